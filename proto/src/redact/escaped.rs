//! Secrets whose characters a JSON encoder wrote in one of the ways that RFC 8259, section 7, allows.
//!
//! `/` may stand there as `/`, `\/`, `\u002f` or `\u002F`, and every other character has as many forms; so a text is not
//! compared with the forms of a secret, but its escapes are read where a secret may begin.

use std::ops::Range;

use memchr::memchr2_iter;

/// How deeply JSON is looked for in the strings of JSON.
const DEPTH: u8 = 2;

/// How many bytes a byte of a secret may take: `\uXXXX`, each of whose characters is written the same way.
pub(super) const WIDEST: usize = 6 * 6;

/// Where `secret` stands in `text`, escaped once or twice in part or in whole. The places do not overlap.
///
/// Only the places where its first character or an escape stands are looked at, so the cost grows with the text alone.
pub(super) fn find_all(secret: &str, text: &[u8]) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let Some(&first) = secret.as_bytes().first() else {
        return found;
    };
    if memchr::memchr(b'\\', text).is_none() {
        return found;
    }
    let mut done = 0;
    for start in memchr2_iter(first, b'\\', text) {
        if start < done {
            continue;
        }
        let longest = (1..=DEPTH)
            .filter_map(|depth| length(secret, &text[start..], depth))
            .max();
        if let Some(length) = longest {
            done = start + length;
            found.push(start..done);
        }
    }
    found
}

/// How many bytes `secret` takes at the beginning of `text`, if it stands there.
fn length(secret: &str, text: &[u8], depth: u8) -> Option<usize> {
    let mut length = 0;
    for expected in secret.chars() {
        let (character, width) = character(text.get(length..)?, depth)?;
        if character != expected {
            return None;
        }
        length += width;
    }
    Some(length)
}

/// The first character of `text`, which may be escaped up to `depth` times, and how many bytes it takes.
fn character(text: &[u8], depth: u8) -> Option<(char, usize)> {
    let Some(inner) = depth.checked_sub(1) else {
        return raw(text);
    };
    let mut width = 0;
    let mut next = || {
        let (character, taken) = character(text.get(width..)?, inner)?;
        width += taken;
        Some(character)
    };
    let meant = match next()? {
        '\\' => match next()? {
            'b' => '\u{8}',
            'f' => '\u{c}',
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            'u' => in_units(&mut next)?,
            itself @ ('"' | '\\' | '/') => itself,
            _ => return None,
        },
        plain => plain,
    };
    Some((meant, width))
}

/// What follows `\u`: one unit of UTF-16, or the two of a surrogate pair.
fn in_units(next: &mut impl FnMut() -> Option<char>) -> Option<char> {
    let mut unit = |prefix: &str| {
        for expected in prefix.chars() {
            if next()? != expected {
                return None;
            }
        }
        let mut unit = 0;
        for _ in 0..4 {
            unit = unit << 4 | next()?.to_digit(16)?;
        }
        u16::try_from(unit).ok()
    };
    let first = unit("")?;
    let units = match first {
        0xd800..=0xdbff => vec![first, unit("\\u")?],
        _ => vec![first],
    };
    char::decode_utf16(units).next()?.ok()
}

fn raw(text: &[u8]) -> Option<(char, usize)> {
    let width = match text.first()? {
        0..=0x7f => 1,
        0xc0..=0xdf => 2,
        0xe0..=0xef => 3,
        _ => 4,
    };
    let character = std::str::from_utf8(text.get(..width)?).ok()?.chars().next()?;
    Some((character, width))
}

#[cfg(test)]
mod tests {
    use super::{WIDEST, find_all};

    const SECRET: &str = "kT9+aZ/q\"\\ü🔑=";

    /// Every character as `\uXXXX`.
    fn in_units(text: &str, upper: bool) -> String {
        let unit = |unit: u16| match upper {
            true => format!("\\u{unit:04X}"),
            false => format!("\\u{unit:04x}"),
        };
        text.encode_utf16().map(unit).collect()
    }

    fn again(escaped: &str) -> String {
        escaped.replace('\\', "\\\\").replace('"', "\\\"")
    }

    #[test]
    fn a_secret_is_found_in_every_legal_escaping_and_one_level_deeper() {
        let once = [
            again(SECRET),
            in_units(SECRET, false),
            in_units(SECRET, true),
            r#"kT9\u002BaZ/q\"\\ü🔑="#.to_owned(),
            r#"kT9\u002baZ/q\"\\ü🔑="#.to_owned(),
            r#"kT9+aZ\/q\"\\ü🔑="#.to_owned(),
            r#"kT9\u002BaZ\/q\u0022\u005c\u00FC\ud83d\uDD11\u003D"#.to_owned(),
            r#"\u006bT9+aZ\u002fq\"\u005Cü🔑="#.to_owned(),
        ];
        for form in &once {
            let deeper = [
                again(form),
                again(form).replace('/', "\\/"),
                in_units(form, true),
                form.replace('\\', r"\u005c").replace('"', "\\\""),
            ];
            for form in deeper.iter().chain([form]) {
                let text = format!("\"before\\n{form}after\"");
                let start = "\"before\\n".len();
                let range = start..start + form.len();
                assert_eq!(find_all(SECRET, text.as_bytes()), [range], "{form}");
                assert!(form.len() <= SECRET.len() * WIDEST);
            }
        }
    }

    #[test]
    fn short_escapes_mean_control_characters() {
        let text = br"\b\f\n\r\t \u0008\u000c\u000A\u000D\u0009";
        assert_eq!(find_all("\u{8}\u{c}\n\r\t", text), [0..10, 11..41]);
    }

    #[test]
    fn what_means_something_else_is_left() {
        for text in [
            r"kT9\u002C",
            r"kT9\u00",
            r"kT9\u002",
            r"kT9\x2b",
            r"kT9\",
            r"\ud83dkT9",
            "\\\u{fc}",
            "",
        ] {
            assert_eq!(find_all("kT9+", text.as_bytes()), [], "{text}");
        }
        assert_eq!(find_all("kT9+", b"\\kT9\xff\\u002b"), []);
        assert_eq!(find_all("🔑", br"\ud83d\ud83d \ud83d \udd11"), []);
    }
}
