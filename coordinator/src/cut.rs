//! Long texts, cut.

use std::borrow::Cow;

/// `text`, cut at a character boundary to at most `most` bytes with a word about what is missing.
pub(crate) fn cut(text: &str, most: usize) -> Cow<'_, str> {
    if text.len() <= most {
        return Cow::Borrowed(text);
    }
    let end = text.floor_char_boundary(most);
    let (kept, rest) = text.split_at(end);
    Cow::Owned(format!("{kept}… [{} more bytes]", rest.len()))
}

/// At most `most` bytes of a text, with a sign that it goes on.
pub(crate) fn shortened(text: &str, most: usize) -> String {
    if text.len() <= most {
        return text.to_owned();
    }
    format!("{}…", &text[..text.floor_char_boundary(most)])
}

/// At most `most` characters of a text, likewise.
pub(crate) fn start_of(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
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
