//! What an agent was told when a call failed, so that the same message about other values counts as the same.

use mcproctor_proto::call::ToolCall;
use serde_json::Value;

use crate::cut::cut;

/// Bytes of a message that are looked at, and shown.
const MOST_BYTES: usize = 300;

/// An error message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ErrorText {
    /// The message without what changes from call to call.
    pub(super) normalised: String,
    /// The message as it came, cut.
    pub(super) sample: String,
}

impl ErrorText {
    /// The server's own words where there are some, else the recorder's.
    pub(super) fn of(call: &ToolCall) -> Self {
        let own = call.result.as_deref().and_then(|raw| own_words(raw.get()));
        let words = own.or(call.error.clone()).unwrap_or_default();
        let words = if words.trim().is_empty() {
            call.state.name().replace('_', " ")
        } else {
            words
        };
        Self::from_words(&words)
    }

    /// Of any message.
    pub(super) fn from_words(words: &str) -> Self {
        Self {
            normalised: normalised(&words[..words.floor_char_boundary(MOST_BYTES)]),
            sample: cut(words, MOST_BYTES).into_owned(),
        }
    }
}

/// The text of a tool's result, or the message of a JSON-RPC error.
fn own_words(raw: &str) -> Option<String> {
    // A result of megabytes is no message; its first words are not worth parsing it.
    if raw.len() > 64 * 1024 {
        return None;
    }
    let value: Value = serde_json::from_str(raw).ok()?;
    if let Some(message) = value.get("message").and_then(Value::as_str) {
        return Some(message.to_owned());
    }
    let parts = value.get("content")?.as_array()?;
    let texts: Vec<&str> = parts.iter().filter_map(|part| part.get("text")?.as_str()).collect();
    (!texts.is_empty()).then(|| texts.join(" "))
}

/// Text in quotes becomes `"…"`, a word with a digit in it `#`, white space one space.
fn normalised(words: &str) -> String {
    let mut out = String::with_capacity(words.len());
    let mut rest = words.trim();
    while let Some(first) = rest.chars().next() {
        let taken = if first.is_whitespace() {
            out.push(' ');
            rest.len() - rest.trim_start().len()
        } else if let Some(length) = quoted(rest, first) {
            out.push_str("\"…\"");
            length
        } else if in_word(first) {
            let length = word_length(rest);
            let word = &rest[..length];
            out.push_str(if word.bytes().any(|byte| byte.is_ascii_digit()) {
                "#"
            } else {
                word
            });
            length
        } else {
            out.push(first);
            first.len_utf8()
        };
        rest = rest.get(taken..).unwrap_or_default();
    }
    out
}

/// The length of the word at the start; an apostrophe between two letters is part of it.
fn word_length(rest: &str) -> usize {
    let mut characters = rest.char_indices().peekable();
    while let Some((at, c)) = characters.next() {
        let joins = matches!(c, '\'' | '’') && characters.peek().is_some_and(|(_, next)| next.is_alphanumeric());
        if !in_word(c) && !joins {
            return at;
        }
    }
    rest.len()
}

/// What belongs together in numbers, ids, dates and versions.
fn in_word(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '-' | '_')
}

/// The length of a text in quotes at the start, quotes included. An apostrophe inside a word opens none, because words
/// are taken whole; a quote that is never closed opens none either.
fn quoted(rest: &str, first: char) -> Option<usize> {
    let close = match first {
        '"' | '\'' | '`' => first,
        '“' => '”',
        '‘' => '’',
        '«' => '»',
        _ => return None,
    };
    let inside = &rest[first.len_utf8()..];
    let end = inside.find(close)?;
    Some(first.len_utf8() + end + close.len_utf8())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_that_differ_in_values_alone_are_one() {
        let same = [
            "unknown city \"Atlantis\" (request 4f9c-22)",
            "unknown  city 'Graz' (request 17)",
            "unknown city “Linz”\n(request 0x1F)",
        ];
        for message in same {
            assert_eq!(normalised(message), "unknown city \"…\" (request #)");
        }
        assert_eq!(normalised("date must be YYYY-MM-DD"), "date must be YYYY-MM-DD");
        assert_eq!(normalised("don't know 'x"), "don't know 'x");
        assert_eq!(normalised("größer als 5 °C"), "größer als # °C");
    }

    #[test]
    fn a_cut_in_the_middle_of_a_character_is_none() {
        let long = "é".repeat(400);
        assert_eq!(ErrorText::from_words(&long).normalised.len(), MOST_BYTES);
    }
}
