//! The credential on its way out.

use std::fmt;

use http::HeaderMap;
use http::header::{AUTHORIZATION, COOKIE, HeaderName, HeaderValue};
use mcproctor_proto::agent::Credential;
use mcproctor_proto::lease_token::is_token;
use secrecy::ExposeSecret;

use super::endpoint::Dialect;
use super::error::RelayError;

const X_API_KEY: HeaderName = HeaderName::from_static("x-api-key");
const API_KEY: HeaderName = HeaderName::from_static("api-key");
const ANTHROPIC_BETA: HeaderName = HeaderName::from_static("anthropic-beta");

/// The beta that the Messages API asks for when it is given an OAuth token instead of a key.
const OAUTH_BETA: &str = "oauth-2025-04-20";

/// What is added to every request, and what must never be seen elsewhere.
pub(super) struct Key {
    header: Option<(HeaderName, HeaderValue)>,
    oauth_beta: bool,
    secret: Option<secrecy::SecretString>,
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Key(…)")
    }
}

impl Key {
    pub(super) fn new(dialect: Dialect, credential: &Credential) -> Result<Self, RelayError> {
        let (name, prefix, secret, oauth) = match (dialect, credential) {
            (_, Credential::None) => {
                return Ok(Self {
                    header: None,
                    oauth_beta: false,
                    secret: None,
                });
            }
            (_, Credential::OwnLogin) => return Err(RelayError::OwnLogin),
            (Dialect::Anthropic, Credential::ApiKey(secret)) => (X_API_KEY, "", secret, false),
            (Dialect::Anthropic, Credential::OauthToken(secret)) => (AUTHORIZATION, "Bearer ", secret, true),
            (Dialect::OpenAi, Credential::ApiKey(secret) | Credential::OauthToken(secret)) => {
                (AUTHORIZATION, "Bearer ", secret, false)
            }
        };
        let mut value = HeaderValue::try_from(format!("{prefix}{}", secret.expose_secret().trim()))
            .map_err(|_| RelayError::Credential)?;
        value.set_sensitive(true);
        Ok(Self {
            header: Some((name, value)),
            oauth_beta: oauth,
            secret: Some(secret.clone()),
        })
    }

    /// Takes out what the agent sent as a credential and puts in the real one.
    pub(super) fn apply(&self, headers: &mut HeaderMap) {
        for name in [AUTHORIZATION, X_API_KEY, API_KEY, COOKIE] {
            headers.remove(name);
        }
        if let Some((name, value)) = &self.header {
            headers.insert(name.clone(), value.clone());
        }
        let announced = headers
            .get_all(ANTHROPIC_BETA)
            .iter()
            .filter_map(|value| value.to_str().ok())
            .any(|value| value.split(',').any(|beta| beta.trim() == OAUTH_BETA));
        if self.oauth_beta && !announced {
            headers.append(ANTHROPIC_BETA, HeaderValue::from_static(OAUTH_BETA));
        }
    }

    /// Whether it is a lease token, which only gateways are shown.
    pub(super) fn is_for_a_gateway(&self) -> bool {
        self.secret
            .as_ref()
            .is_some_and(|secret| is_token(secret.expose_secret().trim()))
    }

    /// Takes this credential, and whatever looks like one, out of the API's own words.
    pub(super) fn redact(&self, text: &str) -> String {
        let text = match self.secret.as_ref().map(|secret| secret.expose_secret().trim()) {
            Some(secret) if !secret.is_empty() => text.replace(secret, "[redacted]"),
            _ => text.to_owned(),
        };
        // The APIs quote keys in full or with stars in the middle: `sk-ab****yz`, `sk-ant-…`.
        text.split_inclusive(char::is_whitespace)
            .map(|word| match word.find("sk-") {
                Some(at) if word.len() - at > 8 && !word[..at].ends_with(char::is_alphanumeric) => {
                    let end = word[at..]
                        .find(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '*')))
                        .map_or(word.len(), |length| at + length);
                    format!("{}[redacted]{}", &word[..at], &word[end..])
                }
                _ => word.to_owned(),
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    fn sent(dialect: Dialect, credential: &Credential, by_agent: &[(&str, &str)]) -> Vec<String> {
        let mut headers = HeaderMap::new();
        for (name, value) in by_agent {
            headers.append(
                HeaderName::try_from(*name).unwrap(),
                HeaderValue::try_from(*value).unwrap(),
            );
        }
        Key::new(dialect, credential).unwrap().apply(&mut headers);
        let mut sent: Vec<String> = headers
            .iter()
            .map(|(name, value)| format!("{name}: {}", value.to_str().unwrap()))
            .collect();
        sent.sort();
        sent
    }

    #[test]
    fn the_agents_dummy_key_gives_way_to_the_real_one() {
        let dummy = [
            ("x-api-key", "dummy"),
            ("authorization", "Bearer dummy"),
            ("anthropic-version", "2023-06-01"),
        ];
        let key = Credential::ApiKey("real".to_owned().into());
        let token = Credential::OauthToken("token".to_owned().into());
        assert_eq!(
            sent(Dialect::Anthropic, &key, &dummy),
            ["anthropic-version: 2023-06-01", "x-api-key: real"]
        );
        assert_eq!(
            sent(
                Dialect::Anthropic,
                &token,
                &[("anthropic-beta", "claude-code-20250219,oauth-2025-04-20")]
            ),
            [
                "anthropic-beta: claude-code-20250219,oauth-2025-04-20",
                "authorization: Bearer token"
            ]
        );
        assert_eq!(
            sent(Dialect::Anthropic, &token, &[("anthropic-beta", "tools-1")]),
            [
                "anthropic-beta: oauth-2025-04-20",
                "anthropic-beta: tools-1",
                "authorization: Bearer token"
            ]
        );
        assert_eq!(
            sent(Dialect::OpenAi, &key, &dummy[1..2]),
            ["authorization: Bearer real"]
        );
        assert_eq!(sent(Dialect::OpenAi, &Credential::None, &dummy[..2]), [""; 0]);
    }

    #[test]
    fn keys_are_taken_out_of_the_apis_own_words() {
        let key = Key::new(
            Dialect::OpenAi,
            &Credential::ApiKey("opaque-sentinel".to_owned().into()),
        )
        .unwrap();
        assert_eq!(
            key.redact("Incorrect API key provided: sk-pro****************wxyz. opaque-sentinel is wrong"),
            "Incorrect API key provided: [redacted]. [redacted] is wrong"
        );
        assert_eq!(
            key.redact("a task-management: risk-free"),
            "a task-management: risk-free"
        );
        assert!(!format!("{key:?}").contains("sentinel"));
    }

    #[test]
    fn a_key_that_no_header_can_carry_is_refused_without_being_shown() {
        let error = Key::new(Dialect::OpenAi, &Credential::ApiKey("sentinel\nx".to_owned().into())).unwrap_err();
        assert!(matches!(error, RelayError::Credential));
        assert!(!format!("{error} {error:?}").contains("sentinel"));
    }
}
