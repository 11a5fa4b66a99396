//! Words of others, made harmless for a terminal.

/// `text` without what a terminal would obey or what would turn around the words that follow; line breaks stay.
pub(super) fn clean(text: &str) -> String {
    text.chars().map(|c| if obeyed(c) { '\u{fffd}' } else { c }).collect()
}

fn obeyed(c: char) -> bool {
    // Control characters, and those that change the direction of writing (Unicode TR 9).
    (c.is_control() && c != '\n')
        || matches!(c, '\u{061c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// The same in one line.
pub(super) fn clean_line(text: &str) -> String {
    clean(&text.split_whitespace().collect::<Vec<_>>().join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_left_that_a_terminal_obeys() {
        assert_eq!(clean("a\u{1b}[2J\u{202e}b\nc"), "a\u{fffd}[2J\u{fffd}b\nc");
        assert_eq!(clean_line(" a\r\n b\t"), "a b");
    }
}
