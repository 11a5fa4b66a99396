//! What `summary.md` promises where it is shown.

use mcproctor::report::RunData;
use pulldown_cmark::{Event, Options, Parser};

use crate::sample::{self, write_all};

fn summary(run: &dyn RunData) -> String {
    let folder = tempfile::tempdir().unwrap();
    let written = write_all(run, folder.path()).unwrap();
    std::fs::read_to_string(written.markdown).unwrap()
}

/// Everything but plain text, code spans and the shape of tables and headings is markup that somebody smuggled in.
fn assert_only_code_spans_hold(words: &str, text: &str) {
    let mut spans = 0;
    for event in Parser::new_ext(text, Options::all()) {
        match event {
            Event::Code(span) => spans += usize::from(span.contains(words)),
            Event::Text(text) => assert!(!text.contains(words), "outside of a code span: {text}"),
            Event::Start(tag) => assert!(
                !matches!(
                    tag,
                    pulldown_cmark::Tag::Link { .. }
                        | pulldown_cmark::Tag::Image { .. }
                        | pulldown_cmark::Tag::HtmlBlock
                        | pulldown_cmark::Tag::CodeBlock(_)
                        | pulldown_cmark::Tag::FootnoteDefinition(_)
                ),
                "{tag:?}"
            ),
            Event::Html(html) | Event::InlineHtml(html) => panic!("HTML: {html}"),
            Event::FootnoteReference(_) | Event::InlineMath(_) | Event::DisplayMath(_) => panic!("{event:?}"),
            _ => {}
        }
    }
    assert!(spans > 10, "what was said is shown in {spans} places");
}

#[test]
fn nothing_that_was_said_becomes_markup_a_mention_or_a_link() {
    for around in [
        "@everyone smuggled #1 https://example.com www.example.com a@b.com",
        "`` smuggled ` ```",
        "smuggled | a | b |\n| --- |\n# title\n\n<script>alert(1)</script>",
        "![smuggled](https://example.com/x.png) [x](javascript:alert(1)) [^1] $x$ **b** ~~s~~ &lt;",
        "smuggled \\",
        "\\` smuggled \\|",
    ] {
        let text = summary(&sample::hostile(around));
        assert_only_code_spans_hold("smuggled", &text);
        // Every row of a table has as many cells as its head.
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
}

#[test]
fn it_fits_a_comment_however_large_the_run_is() {
    let long = "🦀 ".repeat(2_000);
    let mut run = sample::mixed(2);
    let case = run.run.test_cases[0].clone();
    for number in 0..400 {
        run.run.test_cases.push(mcproctor::record::TestCaseRecord {
            name: format!("{number} {long}"),
            file: format!("{number}.yaml"),
            ..case.clone()
        });
    }
    for attempt in &mut run.attempts {
        attempt.reason = long.clone();
        for (index, call) in attempt.calls.iter_mut().enumerate() {
            call.tool = format!("{} {index} {long}", attempt.cell * 100 + attempt.iteration);
        }
    }
    run.run.notices = vec![long.clone(); 50];
    // The cells of the second agent begin later now; only those of the first are kept.
    run.attempts.retain(|attempt| attempt.cell < 5);
    let text = summary(&run);
    assert!(text.chars().count() < 65_000, "{}", text.chars().count());
    assert!(text.contains("more in the full report."));
}

#[test]
fn where_rates_are_of_single_cells_each_stands_there_once() {
    let mut run = sample::mixed(12);
    for (number, case) in run.run.test_cases.iter_mut().enumerate() {
        case.file = format!("{number}.yaml");
    }
    let text = summary(&run);
    for case in &run.run.test_cases {
        let of_cell = |line: &&str| line.starts_with("| ") && line.contains(&format!("`{}` |", case.name));
        let rows: Vec<&str> = text.lines().filter(of_cell).collect();
        assert_eq!(rows.len(), run.run.agents.len(), "{rows:#?}");
        assert!(
            rows.iter().all(|row| row.starts_with(&format!("| `{}` |", case.name))),
            "{rows:#?}"
        );
    }
}

#[test]
fn what_a_reviewer_sees() {
    insta::assert_snapshot!("summary", summary(&sample::mixed(12)));
}
