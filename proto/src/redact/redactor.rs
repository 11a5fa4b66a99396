//! Removes known secrets from everything that is recorded.

use std::ops::Range;

use memchr::memmem::Finder;
use serde_json::Value;
use serde_json::value::RawValue;

use super::blinded::Blinded;
use super::escaped;
use super::forms::{forms, from_url};
use super::named::Named;
use crate::assignment::Assignment;

/// What stands where a secret stood.
pub(super) const MARK: &str = "[redacted]";

/// Knows secret values.
#[derive(Debug, Default)]
pub struct Redactor {
    patterns: Vec<Pattern>,
    /// Secrets that it does not know, and recognises.
    blinded: Vec<Blinded>,
}

struct Pattern {
    secret: String,
    /// Finds the secret as it is.
    finder: Finder<'static>,
    /// Its name said that it is a credential.
    credential: bool,
}

impl std::fmt::Debug for Pattern {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Pattern")
    }
}

impl Pattern {
    /// Where the secret stands in `bytes`, in no order.
    fn find_all(&self, bytes: &[u8]) -> Vec<Range<usize>> {
        let mut found = escaped::find_all(&self.secret, bytes);
        let plain = self.finder.find_iter(bytes);
        found.extend(plain.map(|start| start..start + self.secret.len()));
        found
    }
}

impl Redactor {
    /// Learns values.
    pub fn new<'a>(named: impl Iterator<Item = Named<'a>>) -> Self {
        let mut secrets: Vec<(String, bool)> = Vec::new();
        for named in named {
            let (value, credential, shortest) = (named.value(), named.is_credential(), named.shortest());
            let mut learn = |secret: &str| {
                if secret.len() >= shortest {
                    secrets.extend(forms(secret).into_iter().map(|form| (form, credential)));
                }
            };
            learn(value);
            learn(&from_url(value));
            // `Bearer …`, `Basic …`: servers echo the part after the scheme.
            if credential && let Some((_, token)) = value.trim().split_once(' ') {
                learn(token.trim());
            }
        }
        secrets.sort_by(|(a, a_credential), (b, b_credential)| a.cmp(b).then(b_credential.cmp(a_credential)));
        secrets.dedup_by(|(a, _), (b, _)| a == b);
        let patterns = secrets.into_iter().map(|(secret, credential)| Pattern {
            finder: Finder::new(secret.as_bytes()).into_owned(),
            secret,
            credential,
        });
        Self {
            patterns: patterns.collect(),
            blinded: Vec::new(),
        }
    }

    /// Knows the secrets of an attempt, which are what is configured about its agent and its servers, and recognises those of the
    /// run beside it.
    pub fn of_attempt(assignment: &Assignment) -> Self {
        let of_servers = assignment.servers.iter().flat_map(Named::of_server);
        let known = Self::new(Named::of_agent(&assignment.agent).into_iter().chain(of_servers));
        Self {
            blinded: assignment.blinded.clone(),
            ..known
        }
    }

    /// The most bytes that a secret may take in a text.
    pub(super) fn longest(&self) -> usize {
        let lengths = self.patterns.iter().map(|pattern| pattern.secret.len());
        let known = lengths.max().unwrap_or(0).saturating_mul(escaped::WIDEST);
        self.blinded.iter().map(Blinded::len).fold(known, usize::max)
    }

    /// Where secrets stand in `bytes`, in order.
    pub(super) fn find_all(&self, bytes: &[u8]) -> Vec<Range<usize>> {
        self.places(self.patterns.iter(), bytes)
    }

    /// Places that overlap become one, so that no part of a secret survives beside another one.
    fn places<'a>(&self, patterns: impl Iterator<Item = &'a Pattern>, bytes: &[u8]) -> Vec<Range<usize>> {
        let mut found: Vec<Range<usize>> = patterns.flat_map(|pattern| pattern.find_all(bytes)).collect();
        found.extend(self.blinded.iter().flat_map(|blinded| blinded.find_all(bytes)));
        found.sort_by_key(|place| (place.start, place.end));
        found.dedup_by(|next, place| {
            let overlap = next.start < place.end;
            if overlap {
                place.end = place.end.max(next.end);
            }
            overlap
        });
        found
    }

    /// Whether `bytes` hold a secret.
    pub fn finds(&self, bytes: &[u8]) -> bool {
        self.patterns.iter().any(|pattern| {
            pattern.finder.find(bytes).is_some() || !escaped::find_all(&pattern.secret, bytes).is_empty()
        }) || self.blinded.iter().any(|blinded| !blinded.find_all(bytes).is_empty())
    }

    /// `text` without secrets.
    pub fn text(&self, text: String) -> String {
        self.without(self.patterns.iter(), text)
    }

    /// The name of something that a verdict depends on, a tool for example. Only credentials are taken out of it: a plain
    /// setting may well be called like the tool.
    pub fn name(&self, name: String) -> String {
        self.without(self.patterns.iter().filter(|pattern| pattern.credential), name)
    }

    fn without<'a>(&self, patterns: impl Iterator<Item = &'a Pattern>, text: String) -> String {
        let places = self.places(patterns, text.as_bytes());
        let mut text = text;
        if !places.is_empty() {
            let mut without = Vec::with_capacity(text.len());
            let mut done = 0;
            for place in places {
                without.extend_from_slice(&text.as_bytes()[done..place.start]);
                without.extend_from_slice(MARK.as_bytes());
                done = place.end;
            }
            without.extend_from_slice(&text.as_bytes()[done..]);
            // Secrets begin and end with whole characters.
            text = String::from_utf8_lossy(&without).into_owned();
        }
        text
    }

    /// `raw` without secrets; still JSON.
    pub fn json(&self, raw: Box<RawValue>) -> Box<RawValue> {
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
        let headers = [
            ("Authorization", "Bearer sentinel-\"1\""),
            ("X-Shard", "abc"),
            ("X-Pin-Token", "4711"),
        ];
        Redactor::new(headers.into_iter().map(|(name, value)| Named::header(name, value)))
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
    fn another_legal_escaping_hides_no_secret() {
        let redactor = Redactor::new([Named::header("X-Api-Key", "kT9+aZ/q8LmN==")].into_iter());
        let unicode: String = "kT9+aZ/q8LmN==".bytes().map(|byte| format!("\\u{byte:04x}")).collect();
        for form in [
            "kT9+aZ/q8LmN==",
            r"kT9\u002BaZ/q8LmN==",
            r"kT9\u002baZ/q8LmN==",
            r"kT9+aZ\/q8LmN==",
            r"kT9\u002baZ\/q8LmN\u003D=",
            r"kT9\\u002BaZ\\\/q8LmN==",
            "kT9%2BaZ%2Fq8LmN%3D%3D",
            &unicode,
        ] {
            let raw = RawValue::from_string(format!(r#"{{"\n{form}":["{form}, {form}"]}}"#)).unwrap();
            assert_eq!(
                redactor.json(raw).get(),
                r#"{"\n[redacted]":["[redacted], [redacted]"]}"#,
                "{form}"
            );
        }
    }

    #[test]
    fn a_short_secret_is_removed_and_a_short_setting_is_not() {
        let redactor = Redactor::new(
            [
                Named::header("X-Tenant", "acme"),
                Named::header("X-Version", "2.0"),
                Named::variable("DB_PASS", "pw-1"),
                Named::variable("VERBOSE", "true"),
                Named::variable("CHARSET", "utf-8"),
            ]
            .into_iter(),
        );
        assert_eq!(
            redactor.text("acme pw-1 true utf-8 2.0".to_owned()),
            "[redacted] [redacted] true utf-8 2.0"
        );
    }

    #[test]
    fn no_part_of_a_secret_survives_beside_another_one_that_overlaps() {
        let redactor = Redactor::new([Named::header("A", "xxabcd"), Named::header("B", "abcdefghij")].into_iter());
        assert_eq!(redactor.text("<xxabcdefghij>".to_owned()), "<[redacted]>");
    }

    #[test]
    fn a_setting_that_is_called_like_a_tool_leaves_the_tool_its_name() {
        let redactor = Redactor::new(
            [
                Named::variable("MODE", "get_forecast"),
                Named::variable("API_KEY", "k-123"),
            ]
            .into_iter(),
        );
        assert_eq!(redactor.name("get_forecast".to_owned()), "get_forecast");
        assert_eq!(redactor.text("get_forecast".to_owned()), "[redacted]");
        assert_eq!(redactor.name("echo_k-123".to_owned()), "echo_[redacted]");
    }

    #[test]
    fn debug_output_holds_no_secret() {
        assert!(!format!("{:?}", redactor()).contains("sentinel"));
    }

    #[test]
    fn a_secret_in_a_number_leaves_valid_json() {
        let raw = RawValue::from_string(r#"{"pin":4711,"shard":"abc"}"#.to_owned()).unwrap();
        assert_eq!(redactor().json(raw).get(), r#"{"pin":"[redacted]","shard":"abc"}"#);
    }
}
