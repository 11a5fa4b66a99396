//! Removes known secrets from everything that is recorded.

use memchr::memmem::Finder;
use serde_json::Value;
use serde_json::value::RawValue;

/// What stands where a secret stood.
const MARK: &str = "[redacted]";
/// Shorter values are no secrets: hiding each of their appearances would destroy the record.
const SHORTEST: usize = 6;
/// The same for the value of a header whose name says that it is a credential.
const SHORTEST_CREDENTIAL: usize = 3;
/// Parts of header names that say so.
const CREDENTIAL_NAMES: [&str; 8] = [
    "auth",
    "key",
    "token",
    "secret",
    "cookie",
    "password",
    "credential",
    "signature",
];

/// Knows the secret values of one server.
pub(super) struct Redactor {
    patterns: Vec<Finder<'static>>,
}

impl Redactor {
    /// Learns header values by name.
    pub(super) fn new<'a>(headers: impl Iterator<Item = (&'a str, &'a str)>) -> Self {
        let mut secrets: Vec<String> = Vec::new();
        for (name, value) in headers {
            let name = name.to_ascii_lowercase();
            let credential = CREDENTIAL_NAMES.iter().any(|part| name.contains(part));
            let shortest = if credential { SHORTEST_CREDENTIAL } else { SHORTEST };
            let mut learn = |secret: &str| {
                if secret.len() >= shortest {
                    secrets.push(secret.to_owned());
                    let escaped = Value::String(secret.to_owned()).to_string();
                    secrets.push(escaped.trim_matches('"').to_owned());
                }
            };
            learn(value);
            // `Bearer …`, `Basic …`: servers echo the part after the scheme.
            if credential && let Some((_, token)) = value.trim().split_once(' ') {
                learn(token.trim());
            }
        }
        // The longest first, so that no part of a secret survives another one that it contains.
        secrets.sort_by(|a, b| b.len().cmp(&a.len()).then_with(|| a.cmp(b)));
        secrets.dedup();
        Self {
            patterns: secrets
                .iter()
                .map(|secret| Finder::new(secret.as_bytes()).into_owned())
                .collect(),
        }
    }

    /// Whether `bytes` hold a secret.
    pub(super) fn finds(&self, bytes: &[u8]) -> bool {
        self.patterns.iter().any(|pattern| pattern.find(bytes).is_some())
    }

    /// `text` without secrets.
    pub(super) fn text(&self, text: String) -> String {
        if !self.finds(text.as_bytes()) {
            return text;
        }
        let mut text = text;
        for pattern in &self.patterns {
            if let Ok(secret) = std::str::from_utf8(pattern.needle()) {
                text = text.replace(secret, MARK);
            }
        }
        text
    }

    /// `raw` without secrets; still JSON.
    pub(super) fn json(&self, raw: Box<RawValue>) -> Box<RawValue> {
        if !self.finds(raw.get().as_bytes()) {
            return raw;
        }
        // A secret may also stand in a number or across the punctuation of the text; then only its values are searched.
        let replaced = self.text(raw.get().to_owned());
        RawValue::from_string(replaced)
            .or_else(|_| {
                serde_json::value::to_raw_value(&self.value(serde_json::from_str(raw.get()).unwrap_or_default()))
            })
            .unwrap_or_else(|_| RawValue::NULL.to_owned())
    }

    fn value(&self, value: Value) -> Value {
        match value {
            Value::String(text) => Value::String(self.text(text)),
            Value::Array(items) => items.into_iter().map(|item| self.value(item)).collect(),
            Value::Object(fields) => fields
                .into_iter()
                .map(|(key, field)| (self.text(key), self.value(field)))
                .collect(),
            Value::Number(number) if self.finds(number.to_string().as_bytes()) => Value::String(MARK.to_owned()),
            other => other,
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    fn redactor() -> Redactor {
        Redactor::new(
            [
                ("Authorization", "Bearer sentinel-\"1\""),
                ("X-Tenant", "acme"),
                ("X-Pin-Token", "4711"),
            ]
            .into_iter(),
        )
    }

    #[test]
    fn a_token_is_removed_with_and_without_its_scheme_and_in_its_json_form() {
        let json = |text: &str| {
            redactor()
                .json(RawValue::from_string(text.to_owned()).unwrap())
                .get()
                .to_owned()
        };
        assert_eq!(json(r#"{"a":"Bearer sentinel-\"1\""}"#), r#"{"a":"[redacted]"}"#);
        assert_eq!(
            json(r#"{"a":"<sentinel-\"1\">","b":1}"#),
            r#"{"a":"<[redacted]>","b":1}"#
        );
        assert_eq!(redactor().text("sentinel-\"1\"".to_owned()), "[redacted]");
    }

    #[test]
    fn a_secret_in_a_number_leaves_valid_json() {
        let raw = RawValue::from_string(r#"{"pin":4711,"tenant":"acme"}"#.to_owned()).unwrap();
        assert_eq!(redactor().json(raw).get(), r#"{"pin":"[redacted]","tenant":"acme"}"#);
    }
}
