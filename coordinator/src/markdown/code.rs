//! Text from outside, inside Markdown.

use crate::cut::cut;
use crate::unseen::is_unseen;

/// Text from outside as a code span, cut to `most` bytes: the one place where Markdown's readers neither look for markup,
/// links, mentions and references, nor for HTML (CommonMark 0.31, section 6.1). A span stays on one line and in one cell
/// of a table: line breaks become spaces, `|` becomes `¦`, and what cannot be seen or turns the direction of writing becomes
/// a replacement character.
pub(crate) fn code(text: &str, most: usize) -> String {
    let line: String = cut(text, most)
        .chars()
        .map(|c| match c {
            c if c.is_whitespace() => ' ',
            '|' => '¦',
            c if is_unseen(c) || c.is_control() => '\u{fffd}',
            c => c,
        })
        .collect();
    let line = line.trim();
    if line.is_empty() {
        return "(empty)".to_owned();
    }
    // A span ends at the first run of as many backticks as it began with.
    let longest = line.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest + 1);
    let pad = if line.starts_with('`') || line.ends_with('`') {
        " "
    } else {
        ""
    };
    format!("{fence}{pad}{line}{pad}{fence}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_span_cannot_be_left() {
        assert_eq!(code("get_forecast", 80), "`get_forecast`");
        assert_eq!(code("a`b``c", 80), "```a`b``c```");
        assert_eq!(code("`a`", 80), "`` `a` ``");
        assert_eq!(code("a\n# b\r\n| c |\\", 80), "`a # b  ¦ c ¦\\`");
        assert_eq!(code("\u{202e}\0\u{1b}[1m", 80), "`\u{fffd}\u{fffd}\u{fffd}[1m`");
        assert_eq!(code("a\u{61c}b\u{ad}c\u{e0041}d", 80), "`a\u{fffd}b\u{fffd}c\u{fffd}d`");
        assert_eq!(code(" \n ", 80), "(empty)");
        assert_eq!(code("ééé", 3), "`é… [4 more bytes]`");
    }
}
