//! Characters that hide what a text says.

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
}
