//! Characters that hide what a text says, or that a terminal obeys.

/// Whether a character is not shown, or turns the direction of writing: the format characters (Unicode 16, general category
/// Cf) that are not of one script, the separators of lines and paragraphs, and the tag characters. Control characters are
/// another matter ([`char::is_control`]).
pub(crate) fn is_unseen(c: char) -> bool {
    matches!(
        c,
        '\u{ad}'
            | '\u{61c}'
            | '\u{180e}'
            | '\u{200b}'..='\u{200f}'
            | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}'
            | '\u{feff}'
            | '\u{fff9}'..='\u{fffb}'
            | '\u{e0000}'..='\u{e007f}'
    )
}

/// Whether a terminal obeys a character or shows something else than it says. The joiners are left: without them, emoji
/// of families and words of some scripts are others.
pub(crate) fn is_obeyed(c: char) -> bool {
    c.is_control() || (is_unseen(c) && !matches!(c, '\u{200c}' | '\u{200d}'))
}

/// The character as a terminal may have it: the replacement character for one that it obeys.
pub(crate) fn harmless(c: char) -> char {
    if is_obeyed(c) { '\u{fffd}' } else { c }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_hides_or_turns_is_found_and_what_is_read_is_not() {
        let hidden =
            "\u{ad}\u{61c}\u{200b}\u{200d}\u{200e}\u{2028}\u{2029}\u{202e}\u{2060}\u{2066}\u{206a}\u{feff}\u{e0041}";
        assert!(hidden.chars().all(is_unseen));
        assert!(!"Grüße, 東京 مرحبا שלום – ‘a’ …".chars().any(is_unseen));
    }

    #[test]
    fn nothing_is_left_that_a_terminal_obeys_and_families_stay_together() {
        let shown = |text: &str| text.chars().map(harmless).collect::<String>();
        assert_eq!(
            shown("a\u{1b}[2J\u{9b}\u{202e}b\u{200b}\n"),
            "a\u{fffd}[2J\u{fffd}\u{fffd}b\u{fffd}\u{fffd}"
        );
        let stays = "👨\u{200d}👩\u{200d}👧 می\u{200c}خواهم é界";
        assert_eq!(shown(stays), stays);
    }
}
