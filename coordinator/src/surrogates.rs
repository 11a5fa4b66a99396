//! Escapes of JSON that stand for no character.
//!
//! JSON's grammar allows half of a surrogate pair in a string (RFC 8259, section 8.2), and programs that cut text at a number
//! of UTF-16 units write such halves. Strict readers refuse the whole text because of one.

use std::borrow::Cow;

/// The length of an escape: `\u` and four digits.
const ESCAPE: usize = 6;

/// `json` with `\ufffd` in place of every escape that is half of a surrogate pair without the other half.
pub(crate) fn without_lone_surrogates(json: &str) -> Cow<'_, str> {
    let mut mended = String::new();
    let mut kept = 0;
    let mut at = 0;
    while let Some(found) = json.as_bytes().get(at..).and_then(backslash) {
        at += found;
        match unit(json, at) {
            // Another escape; the character after the backslash may be a backslash itself.
            None => at += 2,
            Some(0xd800..=0xdbff) if matches!(unit(json, at + ESCAPE), Some(0xdc00..=0xdfff)) => at += 2 * ESCAPE,
            Some(0xd800..=0xdfff) => {
                mended.push_str(json.get(kept..at).unwrap_or_default());
                mended.push_str("\\ufffd");
                at += ESCAPE;
                kept = at;
            }
            Some(_) => at += ESCAPE,
        }
    }
    if kept == 0 {
        return Cow::Borrowed(json);
    }
    mended.push_str(json.get(kept..).unwrap_or_default());
    Cow::Owned(mended)
}

fn backslash(bytes: &[u8]) -> Option<usize> {
    bytes.iter().position(|byte| *byte == b'\\')
}

/// The unit of UTF-16 that an escape at this place stands for.
fn unit(json: &str, at: usize) -> Option<u16> {
    let digits = json.get(at..at + ESCAPE)?.strip_prefix("\\u")?;
    let hex = digits.bytes().all(|digit| digit.is_ascii_hexdigit());
    u16::from_str_radix(digits, 16).ok().filter(|_| hex)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_without_the_other_half_are_replaced_and_nothing_else() {
        for (json, mended) in [
            (r#""\ud83d""#, r#""\ufffd""#),
            (
                r#""a\uDE00b\ud83d c\ud83d\ud83d\ude00""#,
                r#""a\ufffdb\ufffd c\ufffd\ud83d\ude00""#,
            ),
            (r#""\ud83d\u0041 \ud83d\n""#, r#""\ufffd\u0041 \ufffd\n""#),
            (r#""\\ud83d \\\ud83d""#, r#""\\ud83d \\\ufffd""#),
            (r#""\ud83d\ude00 é \u00e9""#, r#""\ud83d\ude00 é \u00e9""#),
            (r"\", r"\"),
            (r"\ud8", r"\ud8"),
            (r"\ud83é", r"\ud83é"),
            (r"\u+83d", r"\u+83d"),
        ] {
            assert_eq!(without_lone_surrogates(json), mended, "{json}");
        }
    }
}
