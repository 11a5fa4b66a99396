//! Secrets that can be recognised by whoever does not know them.
//!
//! A worker takes keys out of what it records that it has no use for: the gateway's `tokenKey`, the judge's key, other agents'
//! keys. An agent that nothing confines may find them on the machine. The worker is told only how long each is, a polynomial
//! fingerprint by which places are found (Karp and Rabin, 1987), and an HMAC-SHA-256 (RFC 2104) by which one is told for sure.

use std::ops::Range;

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

use super::forms::forms;

/// The prime 2^61 − 1, modulo which fingerprints are computed.
const PRIME: u64 = (1 << 61) - 1;

/// A form of a secret, without it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Blinded {
    /// Its length in bytes.
    pub length: u32,
    /// What the fingerprint's polynomial is evaluated at.
    pub base: u64,
    /// The polynomial whose coefficients are its bytes.
    pub fingerprint: u64,
    /// The HMAC-SHA-256 of it, under `base`.
    pub digest: Vec<u8>,
}

impl Blinded {
    /// Every form in which `secret` can stand in what programs print.
    pub fn of(secret: &str) -> Vec<Self> {
        let mut all: Vec<String> = Vec::new();
        for form in forms(secret) {
            let quoted = serde_json::Value::from(form.as_str()).to_string();
            all.extend([quoted[1..quoted.len() - 1].to_owned(), form]);
        }
        all.sort();
        all.dedup();
        all.iter().filter_map(|form| Self::of_bytes(form.as_bytes())).collect()
    }

    fn of_bytes(secret: &[u8]) -> Option<Self> {
        // Drawn from the secret itself, so that everybody blinds it in the same way; it says no more of it than `digest` does.
        let drawn = digest(secret, b"base");
        let base = drawn.iter().take(8).fold(0, |sum, byte| sum << 8 | u64::from(*byte)) % PRIME;
        let fingerprint = secret.iter().fold(0, |sum, byte| step(sum, base, *byte));
        (!secret.is_empty()).then(|| Self {
            length: u32::try_from(secret.len()).unwrap_or(u32::MAX),
            base,
            fingerprint,
            digest: digest(&base.to_be_bytes(), secret),
        })
    }

    pub(super) fn len(&self) -> usize {
        self.length as usize
    }

    /// Where it stands in `bytes`, in order.
    pub(super) fn find_all(&self, bytes: &[u8]) -> Vec<Range<usize>> {
        let length = self.len();
        let mut found = Vec::new();
        if length == 0 || length > bytes.len() || self.base >= PRIME {
            return found;
        }
        // What the byte that leaves the window has in the sum.
        let leaving = (1..length).fold(1, |power, _| times(power, self.base));
        let mut sum = bytes[..length].iter().fold(0, |sum, byte| step(sum, self.base, *byte));
        for end in length..=bytes.len() {
            let window = end - length..end;
            if sum == self.fingerprint && digest(&self.base.to_be_bytes(), &bytes[window.clone()]) == self.digest {
                found.push(window.clone());
            }
            if let Some(next) = bytes.get(end) {
                let without = (sum + PRIME - times(leaving, u64::from(bytes[window.start]))) % PRIME;
                sum = step(without, self.base, *next);
            }
        }
        found
    }
}

fn step(sum: u64, base: u64, byte: u8) -> u64 {
    (times(sum, base) + u64::from(byte)) % PRIME
}

fn times(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    let (low, high) = (product & u128::from(PRIME), product >> 61);
    let sum = u64::try_from(low).unwrap_or(0) + u64::try_from(high).unwrap_or(0);
    if sum >= PRIME { sum - PRIME } else { sum }
}

fn digest(key: &[u8], message: &[u8]) -> Vec<u8> {
    #[expect(
        clippy::expect_used,
        reason = "a key of HMAC may have any length (RFC 2104, section 2)"
    )]
    let mac = Hmac::<Sha256>::new_from_slice(key).expect("HMAC takes every key");
    mac.chain_update(message).finalize().into_bytes().to_vec()
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: &str = "a \"key\" of\u{fc}b\u{e9}r 32 bytes: 0123456789";

    fn places(text: &str) -> Vec<String> {
        let mut found: Vec<Range<usize>> = Blinded::of(KEY)
            .iter()
            .flat_map(|form| form.find_all(text.as_bytes()))
            .collect();
        found.sort_by_key(|place| place.start);
        found.into_iter().map(|place| text[place].to_owned()).collect()
    }

    #[test]
    fn a_secret_is_found_in_every_form_and_nothing_else_is() {
        let json = serde_json::json!({ "k": KEY }).to_string();
        let in_json = json.trim_start_matches("{\"k\":\"").trim_end_matches("\"}");
        let text = format!("{KEY} x{KEY}{KEY}y {json}");
        assert_eq!(places(&text), [KEY, KEY, KEY, in_json]);
        for other in ["", KEY.trim_end_matches('9'), &KEY.to_uppercase(), &"\0".repeat(100)] {
            assert_eq!(places(other), [""; 0], "{other}");
        }
    }

    #[test]
    fn nothing_of_the_secret_is_handed_on() {
        let told = format!("{:?}", Blinded::of("snt1nel-token-key-0123456789abcdef"));
        assert!(!told.contains("snt1nel"), "{told}");
        let same = Blinded::of("snt1nel-token-key-0123456789abcdef");
        assert_eq!(format!("{same:?}"), told, "both sides blind it in one way");
    }

    #[test]
    fn what_a_stranger_sends_is_searched_for_without_a_fault() {
        for (length, base) in [(0, 1), (u32::MAX, 1), (3, u64::MAX), (3, 0)] {
            let odd = Blinded {
                length,
                base,
                fingerprint: u64::MAX,
                digest: Vec::new(),
            };
            assert_eq!(odd.find_all(b"some bytes"), []);
        }
    }
}
