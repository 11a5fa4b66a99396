//! The ways in which a value can stand in what programs print.

use std::fmt::Write as _;

/// Lines of a value that spans several are looked for by themselves when they have this many bytes.
const SHORTEST_LINE: usize = 16;

/// `secret` as it is and inside a URL, and the lines of a value that spans several, such as a PEM key. What JSON makes of
/// each is the business of [`super::escaped`].
pub(super) fn forms(secret: &str) -> Vec<String> {
    let mut forms = vec![secret.to_owned(), in_url(secret)];
    if secret.trim_end().contains('\n') {
        let lines = secret.lines().filter(|line| line.len() >= SHORTEST_LINE);
        forms.extend(lines.map(str::to_owned));
    }
    forms
}

/// Percent-encoded but for unreserved characters (RFC 3986, section 2.3).
fn in_url(text: &str) -> String {
    let mut encoded = String::new();
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            encoded.push(char::from(byte));
        } else {
            // Writing to a string does not fail.
            let _ = write!(encoded, "%{byte:02X}");
        }
    }
    encoded
}

/// What the bytes of a URL's part mean.
pub(super) fn from_url(text: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = text.as_bytes();
    while let Some((&byte, after)) = rest.split_first() {
        let digits = after.get(..2).and_then(|digits| std::str::from_utf8(digits).ok());
        match digits.and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
            Some(value) if byte == b'%' => {
                bytes.push(value);
                rest = &after[2..];
            }
            _ => {
                bytes.push(byte);
                rest = after;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::{forms, from_url};

    #[test]
    fn a_value_is_known_inside_a_url() {
        assert_eq!(forms("a\"ü/b"), ["a\"ü/b", "a%22%C3%BC%2Fb"]);
    }

    #[test]
    fn long_lines_of_a_value_are_known_by_themselves() {
        let forms = forms("-----BEGIN KEY-----\nMIIBVgIBADANBgkqhkiG\nshort\n");
        assert!(forms.iter().any(|form| form == "MIIBVgIBADANBgkqhkiG"));
        assert!(!forms.iter().any(|form| form == "short"));
    }

    #[test]
    fn broken_escapes_of_a_url_stay() {
        assert_eq!(from_url("a%20b%2"), "a b%2");
        assert_eq!(from_url("100%+ü%zz"), "100%+ü%zz");
    }
}
