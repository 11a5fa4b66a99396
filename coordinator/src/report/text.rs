//! Cutting long texts, and what cannot be seen in them.

use std::borrow::Cow;

/// `text`, cut at a character boundary to at most `most` bytes with a word about what is missing.
pub(super) fn cut(text: &str, most: usize) -> Cow<'_, str> {
    if text.len() <= most {
        return Cow::Borrowed(text);
    }
    let end = text.floor_char_boundary(most);
    let (kept, rest) = text.split_at(end);
    Cow::Owned(format!("{kept}… [{} more bytes]", rest.len()))
}

/// Whether a character is not shown or turns the direction of writing, so that it can hide what a text says: format
/// characters (Unicode 16, general category Cf) that no words need, and the tag characters.
pub(super) fn is_unseen(c: char) -> bool {
    matches!(
        c,
        '\u{ad}'
            | '\u{61c}'
            | '\u{200b}'..='\u{200f}'
            | '\u{202a}'..='\u{202e}'
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
    fn a_cut_never_splits_a_character_and_says_what_is_missing() {
        assert_eq!(cut("Graz", 4), "Graz");
        assert_eq!(cut("a😀b", 3), "a… [5 more bytes]");
    }
}
