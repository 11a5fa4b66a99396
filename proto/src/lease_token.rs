//! What a worker shows a gateway in place of a model's key.
//!
//! A token is `mpl1.PAYLOAD.MAC`: the claims as JSON and their HMAC-SHA-256 (RFC 2104, FIPS 180-4), both in base64url without
//! padding (RFC 4648, section 5). The coordinator that signs and the gateway that checks share the key; a worker holds neither
//! it nor anything else to make a token with.

use std::fmt;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hmac::{Hmac, KeyInit, Mac};
use secrecy::{ExposeSecret, SecretString};
use serde::{Deserialize, Serialize};
use sha2::Sha256;

use crate::allowance::CostAllowance;
use crate::id::{AttemptId, Lease, RunId};
use crate::price::Price;

/// The fewest bytes of a key: as many as its hash has (RFC 2104, section 3).
pub const SHORTEST_KEY: usize = 32;

/// Longer ones are no tokens and are not looked at.
const LONGEST_TOKEN: usize = 4096;

/// Names the form, so that another one can follow it. Signed with the rest.
const FORM: &str = "mpl1";

/// What a token allows, to whom, until when.
#[derive(Clone, Debug, PartialEq)]
pub struct Claims {
    /// The run.
    pub run: RunId,
    /// The attempt, and the epoch under which it was given out.
    pub lease: Lease,
    /// The gateway's entry for the model API that may be asked.
    pub model: String,
    /// Tokens, read and written, that the attempt may use of it; as many as it likes when absent.
    pub tokens: Option<u64>,
    /// Money that it may cost; as much as it likes when absent.
    pub cost: Option<CostAllowance>,
    /// Seconds since 1970; from then on the token is refused.
    pub expires_at_unix_s: u64,
}

/// The claims as they are written. One that is not known is refused and not passed over, because it may be a restriction.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Payload {
    run: RunId,
    attempt: AttemptId,
    epoch: u64,
    model: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    tokens: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    cost: Option<Cost>,
    exp: u64,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Cost {
    usd: f64,
    price: Price,
}

/// Whether this has the form of a token, good or not: whoever is shown it is a gateway.
pub fn is_token(text: &str) -> bool {
    text.split_once('.')
        .is_some_and(|(form, rest)| form == FORM && rest.contains('.'))
}

/// Why a key cannot be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the key has {0} bytes; it takes at least {SHORTEST_KEY}")]
pub struct ShortKey(pub usize);

/// Why a token is refused. Nothing of the token is in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TokenError {
    /// It has not the form of a token.
    #[error("this is no lease token")]
    Form,
    /// It was signed with another key, or changed since.
    #[error("the lease token was not signed with this gateway's key")]
    Signature,
    /// It was good once.
    #[error("the lease token has expired")]
    Expired,
}

/// The key that coordinator and gateway share. `Debug` does not show it.
#[derive(Clone)]
pub struct TokenKey(SecretString);

impl fmt::Debug for TokenKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("TokenKey(…)")
    }
}

impl TokenKey {
    /// Takes the bytes of the text as they are.
    ///
    /// # Errors
    /// When there are fewer than [`SHORTEST_KEY`].
    pub fn new(secret: SecretString) -> Result<Self, ShortKey> {
        let length = secret.expose_secret().len();
        if length < SHORTEST_KEY {
            return Err(ShortKey(length));
        }
        Ok(Self(secret))
    }

    /// The key as it was configured.
    pub fn secret(&self) -> &SecretString {
        &self.0
    }

    /// A token with these claims.
    pub fn sign(&self, claims: &Claims) -> SecretString {
        let payload = Payload {
            run: claims.run.clone(),
            attempt: claims.lease.attempt.clone(),
            epoch: claims.lease.epoch,
            model: claims.model.clone(),
            tokens: claims.tokens,
            cost: claims.cost.map(|cost| Cost {
                usd: cost.usd,
                price: cost.price,
            }),
            exp: claims.expires_at_unix_s,
        };
        // Texts and numbers always have a form in JSON.
        let payload = serde_json::to_vec(&payload).unwrap_or_default();
        let signed = format!("{FORM}.{}", URL_SAFE_NO_PAD.encode(payload));
        let mac = self.mac(signed.as_bytes()).finalize().into_bytes();
        SecretString::from(format!("{signed}.{}", URL_SAFE_NO_PAD.encode(mac)))
    }

    /// The claims of a token. Nothing of it is read before its signature has been checked, in constant time.
    ///
    /// # Errors
    /// When it has not the form of a token, was signed with another key, or has expired at `now_unix_s`.
    pub fn read(&self, token: &str, now_unix_s: u64) -> Result<Claims, TokenError> {
        if token.len() > LONGEST_TOKEN {
            return Err(TokenError::Form);
        }
        let (signed, mac) = token.rsplit_once('.').ok_or(TokenError::Form)?;
        let (form, payload) = signed.split_once('.').ok_or(TokenError::Form)?;
        if form != FORM {
            return Err(TokenError::Form);
        }
        let mac = URL_SAFE_NO_PAD.decode(mac).map_err(|_| TokenError::Form)?;
        self.mac(signed.as_bytes())
            .verify_slice(&mac)
            .map_err(|_| TokenError::Signature)?;
        let payload = URL_SAFE_NO_PAD.decode(payload).map_err(|_| TokenError::Form)?;
        let payload: Payload = serde_json::from_slice(&payload).map_err(|_| TokenError::Form)?;
        if now_unix_s >= payload.exp {
            return Err(TokenError::Expired);
        }
        Ok(Claims {
            run: payload.run,
            lease: Lease {
                attempt: payload.attempt,
                epoch: payload.epoch,
            },
            model: payload.model,
            tokens: payload.tokens,
            cost: payload.cost.map(|cost| CostAllowance {
                usd: cost.usd,
                price: cost.price,
            }),
            expires_at_unix_s: payload.exp,
        })
    }

    /// Whether `shown` is the key itself, told in a time that does not depend on how much of it is right.
    pub fn is(&self, shown: &str) -> bool {
        let own = self.mac(self.0.expose_secret().as_bytes()).finalize().into_bytes();
        self.mac(shown.as_bytes()).verify_slice(&own).is_ok()
    }

    fn mac(&self, message: &[u8]) -> Hmac<Sha256> {
        #[expect(
            clippy::expect_used,
            reason = "a key of HMAC may have any length (RFC 2104, section 2)"
        )]
        let mac = Hmac::<Sha256>::new_from_slice(self.0.expose_secret().as_bytes()).expect("HMAC takes every key");
        mac.chain_update(message)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use serde_json::{Value, json};

    use super::*;

    const KEY: &str = "0123456789abcdef0123456789abcdef";
    const NOW: u64 = 1_790_000_000;

    fn key() -> TokenKey {
        TokenKey::new(KEY.to_owned().into()).unwrap()
    }

    fn claims() -> Claims {
        Claims {
            run: RunId::new("2026-11-30T06-54-57-3fa9"),
            lease: Lease {
                attempt: AttemptId::new("3-17-1"),
                epoch: 42,
            },
            model: "anthropic".to_owned(),
            tokens: Some(50_000),
            cost: Some(CostAllowance {
                usd: 0.1 + 0.2,
                price: Price {
                    input_per_million: 3.0,
                    output_per_million: 15.0,
                    ..Price::default()
                },
            }),
            expires_at_unix_s: NOW + 60,
        }
    }

    /// A token with this payload, signed with the right key.
    fn with_payload(payload: &Value) -> String {
        let signed = format!("{FORM}.{}", URL_SAFE_NO_PAD.encode(payload.to_string()));
        let mac = key().mac(signed.as_bytes()).finalize().into_bytes();
        format!("{signed}.{}", URL_SAFE_NO_PAD.encode(mac))
    }

    #[test]
    fn every_claim_comes_back_as_it_was_signed() {
        let mut unlimited = claims();
        unlimited.tokens = None;
        unlimited.cost = None;
        for claims in [claims(), unlimited] {
            let token = key().sign(&claims);
            assert_eq!(key().read(token.expose_secret(), NOW), Ok(claims));
        }
    }

    #[test]
    fn a_token_is_told_from_a_models_key() {
        assert!(is_token(key().sign(&claims()).expose_secret()));
        for key in ["", "mpl1", "mpl1.", "sk-ant-api03-abc", "xmpl1.a.b", "eyJh.eyJz.sig"] {
            assert!(!is_token(key), "{key}");
        }
    }

    #[test]
    fn a_token_is_good_up_to_the_second_in_which_it_expires() {
        let token = key().sign(&claims());
        let read = |now| key().read(token.expose_secret(), now).map(|_| ());
        assert_eq!(read(NOW + 59), Ok(()));
        assert_eq!(read(NOW + 60), Err(TokenError::Expired));
        assert_eq!(read(u64::MAX), Err(TokenError::Expired));
    }

    #[test]
    fn a_change_of_any_character_spoils_a_token() {
        let token = key().sign(&claims()).expose_secret().to_owned();
        for at in 0..token.len() {
            for other in ["A", "Q", "_", ".", "="] {
                if &token[at..=at] == other {
                    continue;
                }
                let changed = format!("{}{other}{}", &token[..at], &token[at + 1..]);
                let read = key().read(&changed, NOW);
                assert!(
                    matches!(read, Err(TokenError::Form | TokenError::Signature)),
                    "{changed}: {read:?}"
                );
            }
        }
        for cut in 0..token.len() {
            assert!(key().read(&token[..cut], NOW).is_err(), "cut at {cut}");
        }
        assert!(key().read(&format!("{token}A"), NOW).is_err());
    }

    #[test]
    fn claims_that_were_put_in_later_count_for_nothing() {
        let token = key().sign(&claims()).expose_secret().to_owned();
        let mac = token.rsplit_once('.').unwrap().1;
        for (name, value) in [
            ("run", json!("another")),
            ("attempt", json!("3-17-2")),
            ("epoch", json!(43)),
            ("model", json!("openai")),
            ("tokens", json!(1_000_000_000)),
            ("cost", json!({"usd": 1e9})),
            ("exp", json!(NOW + 1_000_000)),
        ] {
            let payload = token.split('.').nth(1).unwrap();
            let mut payload: Value = serde_json::from_slice(&URL_SAFE_NO_PAD.decode(payload).unwrap()).unwrap();
            assert_ne!(payload[name], value);
            payload[name] = value;
            let forged = format!("{FORM}.{}.{mac}", URL_SAFE_NO_PAD.encode(payload.to_string()));
            assert_eq!(key().read(&forged, NOW), Err(TokenError::Signature), "{name}");
        }
    }

    #[test]
    fn another_keys_tokens_are_refused() {
        let other = TokenKey::new("another-key-another-key-another-key".to_owned().into()).unwrap();
        let token = other.sign(&claims());
        assert_eq!(key().read(token.expose_secret(), NOW), Err(TokenError::Signature));
    }

    #[test]
    fn what_is_no_token_is_refused_without_a_fault() {
        for text in [
            "",
            ".",
            "..",
            "...",
            "mpl1",
            "mpl1..",
            "mpl1.e30.",
            "sk-ant-api03-x",
            "mpl2.e30.e30",
            "mpl1.ü.ü",
        ] {
            assert!(key().read(text, NOW).is_err(), "{text}");
        }
        assert_eq!(key().read(&"a.".repeat(1 << 20), NOW), Err(TokenError::Form));
    }

    #[test]
    fn a_claim_that_is_missing_or_not_known_is_no_token() {
        let whole = json!({"run": "r", "attempt": "a", "epoch": 1, "model": "m", "exp": NOW + 1});
        assert!(key().read(&with_payload(&whole), NOW).is_ok());
        for name in ["run", "attempt", "epoch", "model", "exp"] {
            let mut without = whole.clone();
            without.as_object_mut().unwrap().remove(name);
            assert_eq!(
                key().read(&with_payload(&without), NOW),
                Err(TokenError::Form),
                "{name}"
            );
        }
        let more = whole;
        // No number at all, as JSON has it, is no way to be free of a limit.
        for (name, value) in [("costUsd", json!(1.5)), ("cost", json!({"usd": null, "price": {}}))] {
            let mut more = more.clone();
            more[name] = value;
            assert_eq!(key().read(&with_payload(&more), NOW), Err(TokenError::Form), "{name}");
        }
    }

    #[test]
    fn short_keys_are_refused_and_no_key_is_shown() {
        let short = TokenKey::new("x".repeat(31).into()).unwrap_err();
        assert_eq!(short.to_string(), "the key has 31 bytes; it takes at least 32");
        assert!(!format!("{:?}", key()).contains("0123"));
        assert!(key().is(KEY));
        for other in ["", "0", &KEY[1..], &format!("{KEY}0")] {
            assert!(!key().is(other), "{other}");
        }
    }
}
