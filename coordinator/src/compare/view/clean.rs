//! Words of others, made harmless for a terminal.

use crate::unseen::harmless;

/// `text` without what a terminal would obey or what would turn around the words that follow; line breaks stay.
pub(super) fn clean(text: &str) -> String {
    text.chars().map(|c| if c == '\n' { c } else { harmless(c) }).collect()
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
