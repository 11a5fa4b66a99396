//! What text from outside is in Markdown: code spans and nothing else.

use pulldown_cmark::{Event, Options, Parser, Tag};

/// Everything but plain text, code spans and the shape of tables, lists and headings is markup that somebody smuggled in.
pub(crate) fn assert_only_code_spans_hold(words: &str, text: &str) {
    let mut spans = 0;
    for event in Parser::new_ext(text, Options::all()) {
        match event {
            Event::Code(span) => spans += usize::from(span.contains(words)),
            Event::Text(text) => assert!(!text.contains(words), "outside of a code span: {text}"),
            Event::Start(tag) => assert!(
                !matches!(
                    tag,
                    Tag::Link { .. }
                        | Tag::Image { .. }
                        | Tag::HtmlBlock
                        | Tag::CodeBlock(_)
                        | Tag::FootnoteDefinition(_)
                ),
                "{tag:?}"
            ),
            Event::Html(html) | Event::InlineHtml(html) => panic!("HTML: {html}"),
            Event::FootnoteReference(_) | Event::InlineMath(_) | Event::DisplayMath(_) => panic!("{event:?}"),
            _ => {}
        }
    }
    assert!(spans > 10, "what was said is shown in {spans} places");
    assert_every_row_has_as_many_cells_as_its_head(text);
}

fn assert_every_row_has_as_many_cells_as_its_head(text: &str) {
    let mut columns = None;
    for line in text.lines() {
        let bars = line.matches('|').count();
        match (line.starts_with('|'), columns) {
            (true, None) => columns = Some(bars),
            (true, Some(expected)) => assert_eq!(bars, expected, "{line}"),
            (false, _) => columns = None,
        }
    }
}

/// Texts with `smuggled` in them that try to be more than text.
pub(crate) const SMUGGLERS: [&str; 6] = [
    "@everyone smuggled #1 https://example.com www.example.com a@b.com 1ff6a67c0ffee0123456789012345678901234ab",
    "`` smuggled ` ```",
    "smuggled | a | b |\n| --- |\n# title\n\n<script>alert(1)</script>",
    "![smuggled](https://example.com/x.png) [x](javascript:alert(1)) [^1] $x$ **b** ~~s~~ &lt;",
    "smuggled \\",
    "\\` smuggled \\|",
];
