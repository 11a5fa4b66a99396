//! Text from outside, made safe for a terminal and fitted into columns.

use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

use crate::unseen::harmless;

/// Longest text kept of anything that is shown, in bytes: names and reasons come from files, servers and agents.
const KEPT_BYTES: usize = 400;

/// The text without anything a terminal would obey: control characters become visible signs, direction overrides and
/// invisible separators a replacement character, line breaks and tabs a space.
pub(super) fn clean(text: &str) -> String {
    let mut kept = String::with_capacity(text.len().min(KEPT_BYTES));
    for c in text.chars() {
        if kept.len() >= KEPT_BYTES {
            kept.push('…');
            break;
        }
        kept.push(visible(c));
    }
    kept
}

/// What stands for a character on the screen.
fn visible(c: char) -> char {
    match c {
        '\n' | '\r' | '\t' => ' ',
        // The control pictures block mirrors the C0 controls.
        '\0'..='\u{1f}' => char::from_u32(0x2400 + u32::from(c)).unwrap_or('\u{fffd}'),
        '\u{7f}' => '␡',
        c => harmless(c),
    }
}

/// Columns that the text takes.
pub(super) fn width(text: &str) -> usize {
    text.width()
}

/// The text in at most `columns` columns; what does not fit is cut off and replaced by `…`.
pub(super) fn fit(text: &str, columns: usize) -> String {
    if width(text) <= columns {
        return text.to_owned();
    }
    if columns == 0 {
        return String::new();
    }
    let mut kept = take(text.graphemes(true), columns - 1);
    kept.push('…');
    kept
}

/// The text in at most `columns` columns, with `…` in its middle when it does not fit: for paths, whose end matters.
pub(super) fn fit_middle(text: &str, columns: usize) -> String {
    if width(text) <= columns {
        return text.to_owned();
    }
    if columns < 5 {
        return fit(text, columns);
    }
    let tail_columns = (columns - 1) * 2 / 3;
    let head = take(text.graphemes(true), columns - 1 - tail_columns);
    let reversed: Vec<&str> = text.graphemes(true).rev().collect();
    let mut used = 0;
    let mut tail: Vec<&str> = reversed
        .into_iter()
        .take_while(|grapheme| {
            used += width(grapheme);
            used <= tail_columns
        })
        .collect();
    tail.reverse();
    format!("{head}…{}", tail.concat())
}

/// The text in exactly `columns` columns: cut or padded with spaces.
pub(super) fn pad(text: &str, columns: usize) -> String {
    let mut fitted = fit(text, columns);
    let missing = columns.saturating_sub(width(&fitted));
    fitted.extend(std::iter::repeat_n(' ', missing));
    fitted
}

/// Graphemes from the start that fit into `columns`.
fn take<'a>(graphemes: impl Iterator<Item = &'a str>, columns: usize) -> String {
    let mut used = 0;
    graphemes
        .take_while(|grapheme| {
            used += width(grapheme);
            used <= columns
        })
        .collect()
}

/// Parts joined by ` · ` into as few lines of at most `columns` columns as it takes; a part is cut only when it is longer
/// than a line.
pub(super) fn flow(parts: &[String], columns: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for part in parts {
        let part = fit(part, columns);
        match lines.last_mut() {
            Some(line) if width(line) + 3 + width(&part) <= columns => {
                line.push_str(" · ");
                line.push_str(&part);
            }
            _ => lines.push(part),
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_cannot_send_escape_sequences() {
        assert_eq!(clean("a\x1b[2Jb\x07\u{9b}31m"), "a␛[2Jb␇\u{fffd}31m");
        assert_eq!(clean("two\nlines\tand\rmore"), "two lines and more");
        assert_eq!(clean("right\u{202e}tfel"), "right\u{fffd}tfel");
        assert!(clean(&"x".repeat(10_000)).len() < 500);
        assert!(!clean(&"\u{85}é界\x1b".repeat(50)).chars().any(char::is_control));
    }

    #[test]
    fn wide_characters_take_their_two_columns() {
        assert_eq!(fit("東京の天気", 10), "東京の天気");
        assert_eq!(fit("東京の天気", 9), "東京の天…");
        assert_eq!(fit("東京の天気", 8), "東京の…");
        assert_eq!(width(&pad("東京の天気", 8)), 8);
        assert_eq!(pad("ab", 4), "ab  ");
        assert_eq!(fit("anything", 0), "");
    }

    #[test]
    fn a_joined_emoji_is_never_cut_in_half() {
        let family = "👨‍👩‍👧‍👦 family";
        assert_eq!(fit(family, 4), "👨‍👩‍👧‍👦 …");
        assert_eq!(fit(family, 2), "…");
    }

    #[test]
    fn the_end_of_a_path_survives() {
        assert_eq!(
            fit_middle("file:///home/user/reports/run/report.html", 24),
            "file:///…run/report.html"
        );
        assert_eq!(fit_middle("short", 24), "short");
    }

    #[test]
    fn parts_flow_into_lines() {
        let parts = ["one".to_owned(), "two".to_owned(), "three".to_owned()];
        assert_eq!(flow(&parts, 9), ["one · two", "three"]);
        assert_eq!(flow(&parts, 80), ["one · two · three"]);
        assert_eq!(flow(&parts, 4), ["one", "two", "thr…"]);
    }
}
