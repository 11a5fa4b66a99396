//! What an agent did outside the MCP binding, put in words.

use mcproctor_proto::turn::{Escape, EscapeKind};

/// Characters kept of what an escape was about.
const SHOWN: usize = 300;

/// An escape, shortened for people.
pub(super) fn escape(kind: EscapeKind, what: &str, turn: u32) -> Escape {
    Escape {
        kind,
        what: shorten(what, SHOWN),
        turn,
    }
}

/// The first `limit` characters of `text` on one line, with an ellipsis when there was more.
pub(super) fn shorten(text: &str, limit: usize) -> String {
    let mut short = String::new();
    for (count, character) in text.trim().chars().enumerate() {
        if count == limit {
            short.push('…');
            break;
        }
        short.push(if character.is_control() { ' ' } else { character });
    }
    short
}

/// The last `limit` characters of `text`, with an ellipsis when there was more.
pub(super) fn tail(text: &str, limit: usize) -> String {
    let text = text.trim();
    match text.char_indices().rev().nth(limit.saturating_sub(1)) {
        Some((start, _)) if start > 0 => format!("…{}", &text[start..]),
        _ => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::{shorten, tail};

    #[test]
    fn cuts_between_characters() {
        assert_eq!(shorten("grüße\nan alle", 5), "grüße…");
        assert_eq!(shorten("grüße", 5), "grüße");
        assert_eq!(tail("an alle grüße", 5), "…grüße");
        assert_eq!(tail("grüße", 5), "grüße");
        assert_eq!(tail("", 5), "");
    }
}
