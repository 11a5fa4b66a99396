//! A share of iterations, as people write it.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// A share in `0.0..=1.0`, written `0.9` or `90%`.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd, Serialize, Deserialize)]
#[serde(try_from = "f64", into = "f64")]
pub struct Share(f64);

/// What was given is no share.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a share; accepted: a number from 0 to 1 such as `0.9`, or a percentage such as `90%`")]
pub struct BadShare(String);

impl Share {
    /// The share of 1.
    pub fn get(self) -> f64 {
        self.0
    }
}

impl TryFrom<f64> for Share {
    type Error = BadShare;

    fn try_from(value: f64) -> Result<Self, BadShare> {
        if (0.0..=1.0).contains(&value) {
            Ok(Self(value))
        } else {
            Err(BadShare(value.to_string()))
        }
    }
}

impl From<Share> for f64 {
    fn from(share: Share) -> Self {
        share.0
    }
}

impl FromStr for Share {
    type Err = BadShare;

    fn from_str(text: &str) -> Result<Self, BadShare> {
        let bad = || BadShare(text.to_owned());
        let (digits, whole) = match text.strip_suffix('%') {
            Some(percent) => (percent.trim_end(), 100.0),
            None => (text, 1.0),
        };
        // `f64` also reads `inf`, `nan` and `1e-1`, which nobody means here.
        if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.') {
            return Err(bad());
        }
        let value: f64 = digits.parse().map_err(|_| bad())?;
        Self::try_from(value / whole).map_err(|_| bad())
    }
}

impl fmt::Display for Share {
    /// As a percentage, with as many decimals as it was given.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Ten decimals of a percentage are kept; what is beyond comes from binary fractions, as in 0.07 * 100.
        let percent = (self.0 * 1e12).round() / 1e10;
        write!(f, "{percent}%")
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may fail by panicking")]

    use super::*;

    #[test]
    fn both_ways_of_writing_give_the_same_share() {
        for (text, shown) in [
            ("0.9", "90%"),
            ("90%", "90%"),
            ("90 %", "90%"),
            ("1", "100%"),
            ("0", "0%"),
            ("99.5%", "99.5%"),
            ("99.95%", "99.95%"),
            ("0.99999", "99.999%"),
            ("7%", "7%"),
            (".5", "50%"),
        ] {
            assert_eq!(text.parse::<Share>().unwrap().to_string(), shown, "{text}");
        }
        assert_eq!("90%".parse::<Share>(), "0.9".parse::<Share>());
    }

    #[test]
    fn what_could_mean_two_things_is_refused() {
        for text in [
            "90", "1.1", "101%", "-0.1", "nan", "inf", "1e-1", "", "%", "0.9.1", "0,9",
        ] {
            assert!(text.parse::<Share>().is_err(), "{text}");
        }
    }
}
