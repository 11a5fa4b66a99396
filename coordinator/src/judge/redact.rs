//! Keeps the secrets of a config out of what the judge is shown.
//!
//! What was recorded holds none of those that its worker knew. The judge's endpoint is one more reader, so everything that
//! goes there is looked through once more, with every secret of the config.

use std::borrow::Cow;
use std::fmt::{self, Write as _};

use mcproctor_proto::secret::SHORTEST_SECRET;
use secrecy::{ExposeSecret, SecretString};

/// What stands where a secret stood.
const MARK: &str = "[redacted]";
/// What stands before a token in a header; the token is then as secret as the whole value.
const SCHEMES: [&str; 4] = ["bearer", "basic", "token", "apikey"];

/// Knows secret values.
#[derive(Clone, Default)]
pub(super) struct Redaction {
    /// The longest first, so that no end of a longer one is left.
    forms: Vec<String>,
}

impl fmt::Debug for Redaction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Redaction")
    }
}

impl Redaction {
    pub(super) fn new(secrets: &[SecretString]) -> Self {
        let mut forms = Vec::new();
        for secret in secrets {
            let secret = secret.expose_secret().trim();
            // `Bearer …`, `Basic …`: servers echo the part after the scheme.
            let token = secret.split_once(' ').filter(|(scheme, _)| is_scheme(scheme));
            for value in [Some(secret), token.map(|(_, token)| token.trim())]
                .into_iter()
                .flatten()
            {
                if value.len() >= SHORTEST_SECRET {
                    forms.extend([value.to_owned(), in_json(value), in_url(value)]);
                }
            }
        }
        forms.sort_by(|a, b| b.len().cmp(&a.len()).then_with(|| a.cmp(b)));
        forms.dedup();
        Self { forms }
    }

    /// The text without secrets.
    pub(super) fn text<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let mut text = Cow::Borrowed(text);
        for form in &self.forms {
            if text.contains(form.as_str()) {
                text = Cow::Owned(text.replace(form.as_str(), MARK));
            }
        }
        text
    }
}

fn is_scheme(word: &str) -> bool {
    SCHEMES.iter().any(|scheme| word.eq_ignore_ascii_case(scheme))
}

/// As it stands inside a JSON string.
fn in_json(text: &str) -> String {
    let quoted = serde_json::Value::from(text).to_string();
    quoted
        .get(1..quoted.len().saturating_sub(1))
        .unwrap_or_default()
        .to_owned()
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_taken_out_in_every_form_that_evidence_has() {
        let redaction = Redaction::new(&["Bearer sen\"tinel/1", "pw-1", "abc"].map(|secret| secret.to_owned().into()));
        assert_eq!(
            redaction.text(r#"a sen"tinel/1 b sen\"tinel/1 c sen%22tinel%2F1 d Bearer sen"tinel/1 e pw-1 f abc"#),
            "a [redacted] b [redacted] c [redacted] d [redacted] e [redacted] f abc"
        );
        assert!(!format!("{redaction:?}").contains("sentinel"));
    }
}
