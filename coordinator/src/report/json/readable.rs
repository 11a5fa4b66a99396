//! Values as a server or an agent sent them, in a form that every reader takes.

use std::borrow::Cow;

use serde_json::value::{RawValue, to_raw_value};

use crate::surrogates::without_lone_surrogates;

/// Values above this are left out; size and hash stay.
const MOST_BYTES: usize = 64 * 1024;
/// Deeper values stand as a string. Readers give up at a depth of their own, many at 128, and what is around a value takes
/// some of it.
const MOST_LEVELS: usize = 100;

/// A value as it stands in results.
pub(super) struct Readable<'a> {
    /// `None` when there is none, or when it is too large.
    pub(super) value: Option<Cow<'a, RawValue>>,
    /// Whether that is less than what was sent, or in another form.
    pub(super) truncated: bool,
}

impl<'a> Readable<'a> {
    pub(super) fn of(raw: Option<&'a RawValue>) -> Self {
        let value = raw.filter(|raw| raw.get().len() <= MOST_BYTES).and_then(readable);
        let truncated = match (&value, raw) {
            (Some((_, truncated)), _) => *truncated,
            (None, raw) => raw.is_some(),
        };
        Self {
            value: value.map(|(value, _)| value),
            truncated,
        }
    }
}

fn readable(raw: &RawValue) -> Option<(Cow<'_, RawValue>, bool)> {
    if levels(raw.get()) > MOST_LEVELS {
        return Some((Cow::Owned(to_raw_value(raw.get()).ok()?), true));
    }
    Some(match without_lone_surrogates(raw.get()) {
        Cow::Borrowed(_) => (Cow::Borrowed(raw), false),
        Cow::Owned(mended) => (Cow::Owned(RawValue::from_string(mended).ok()?), false),
    })
}

/// How deep arrays and objects stand in each other. `json` is well-formed.
fn levels(json: &str) -> usize {
    let (mut here, mut most) = (0_usize, 0);
    let (mut in_string, mut escaped) = (false, false);
    for byte in json.bytes() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_string => escaped = true,
            b'"' => in_string = !in_string,
            b'[' | b'{' if !in_string => {
                here += 1;
                most = most.max(here);
            }
            b']' | b'}' if !in_string => here = here.saturating_sub(1),
            _ => {}
        }
    }
    most
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    fn shown(json: &str) -> (Option<String>, bool) {
        let raw = RawValue::from_string(json.to_owned()).unwrap();
        let readable = Readable::of(Some(&raw));
        (readable.value.map(|value| value.get().to_owned()), readable.truncated)
    }

    fn nested(levels: usize) -> String {
        format!("{}{}", "[".repeat(levels), "]".repeat(levels))
    }

    #[test]
    fn what_every_reader_takes_stands_as_it_was_sent() {
        let json = r#"{ "n": 9007199254740993, "s": "[[\"\ud83d\ude00\\" }"#;
        assert_eq!(shown(json), (Some(json.to_owned()), false));
        assert_eq!(shown(&nested(MOST_LEVELS)), (Some(nested(MOST_LEVELS)), false));
        assert!(!shown(&format!("\"{}\"", "[".repeat(500))).1);
    }

    #[test]
    fn what_some_readers_refuse_stands_in_a_form_that_they_take() {
        assert_eq!(shown(r#"["\ud83d"]"#), (Some(r#"["\ufffd"]"#.to_owned()), false));
        let deep = format!("{}\"\\ud83d\"{}", "[".repeat(101), "]".repeat(101));
        let (value, truncated) = shown(&deep);
        let text: String = serde_json::from_str(&value.unwrap()).unwrap();
        assert_eq!((text, truncated), (deep, true));
        assert_eq!(shown(&format!("\"{}\"", "x".repeat(MOST_BYTES))), (None, true));
        assert!(Readable::of(None).value.is_none() && !Readable::of(None).truncated);
    }
}
