//! Numbers of JSON, compared exactly. `json` says why those of `serde_json` do not do.

use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};

/// A number as it was written. Equality and order are those of the value: `3` is `3.0` and `30e-1`, and no digit is lost,
/// however many there are.
#[derive(Clone)]
pub struct Number {
    text: String,
    negative: bool,
    /// Significant digits without zeros at either end; empty for zero.
    digits: String,
    /// The value is `0.digits` times ten to the power of this.
    magnitude: i128,
}

impl Number {
    /// The number that `text` is in JSON (RFC 8259, section 6).
    pub fn parse(text: &str) -> Option<Self> {
        let (negative, unsigned) = match text.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, text),
        };
        let (mantissa, exponent) = match unsigned.split_once(['e', 'E']) {
            Some((mantissa, exponent)) => (mantissa, whole(exponent)?),
            None => (unsigned, 0),
        };
        let (integer, fraction) = match mantissa.split_once('.') {
            Some((_, "")) => return None,
            Some((integer, fraction)) => (integer, fraction),
            None => (mantissa, ""),
        };
        let all_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        let leading_zero = integer.len() > 1 && integer.starts_with('0');
        if integer.is_empty() || leading_zero || !all_digits(integer) || !all_digits(fraction) {
            return None;
        }
        let all = format!("{integer}{fraction}");
        let significant = all.trim_start_matches('0');
        let leading = i128::try_from(all.len() - significant.len()).ok()?;
        let digits = significant.trim_end_matches('0').to_owned();
        let magnitude = if digits.is_empty() {
            0
        } else {
            i128::try_from(integer.len()).ok()?.saturating_add(exponent) - leading
        };
        Some(Self {
            text: text.to_owned(),
            negative: negative && !digits.is_empty(),
            digits,
            magnitude,
        })
    }

    /// As it was written.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Whether it has no fraction: `3.0` has none.
    pub fn is_whole(&self) -> bool {
        self.digits.is_empty() || i128::try_from(self.digits.len()).is_ok_and(|length| length <= self.magnitude)
    }

    /// Its digits without point and exponent, if it is whole and a 64-bit integer may hold it.
    pub(super) fn as_integer_text(&self) -> Option<String> {
        let zeros = usize::try_from(self.magnitude).ok()?.checked_sub(self.digits.len())?;
        let sign = if self.negative { "-" } else { "" };
        match self.digits.as_str() {
            "" => Some("0".to_owned()),
            digits if self.magnitude <= 20 => Some(format!("{sign}{digits}{}", "0".repeat(zeros))),
            _ => None,
        }
    }

    /// The nearest double; `None` beyond their range.
    pub fn as_f64(&self) -> Option<f64> {
        self.text.parse().ok().filter(|value: &f64| value.is_finite())
    }

    /// The value, if it is a whole number that fits, however it is written.
    pub fn as_u32(&self) -> Option<u32> {
        self.as_integer_text()?.parse().ok()
    }
}

/// An exponent. What does not fit becomes the largest or smallest, which is as far from every real number.
fn whole(text: &str) -> Option<i128> {
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let limit = i128::MAX / 4;
    let magnitude = digits.parse().unwrap_or(limit).min(limit);
    Some(if text.starts_with('-') { -magnitude } else { magnitude })
}

impl From<u32> for Number {
    fn from(value: u32) -> Self {
        let digits = value.to_string();
        Self {
            magnitude: if value == 0 {
                0
            } else {
                i128::try_from(digits.len()).unwrap_or_default()
            },
            negative: false,
            digits: digits.trim_matches('0').to_owned(),
            text: digits,
        }
    }
}

impl Ord for Number {
    fn cmp(&self, other: &Self) -> Ordering {
        let sign = |number: &Self| match (number.digits.is_empty(), number.negative) {
            (true, _) => 0,
            (false, true) => -1,
            (false, false) => 1,
        };
        let size = || {
            self.magnitude
                .cmp(&other.magnitude)
                .then_with(|| self.digits.cmp(&other.digits))
        };
        sign(self).cmp(&sign(other)).then_with(|| match sign(self) {
            0 => Ordering::Equal,
            1 => size(),
            _ => size().reverse(),
        })
    }
}

impl PartialOrd for Number {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Number {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Number {}

impl Hash for Number {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (self.negative, &self.digits, self.magnitude).hash(state);
    }
}

impl fmt::Debug for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may fail by panicking")]

    use std::collections::HashSet;

    use rand::rngs::StdRng;
    use rand::{RngExt, SeedableRng};

    use super::*;

    fn number(text: &str) -> Number {
        Number::parse(text).unwrap_or_else(|| unreachable!("{text}"))
    }

    #[test]
    fn the_value_counts_and_not_how_it_is_written() {
        for same in [
            ["3", "3.0"],
            ["3", "30e-1"],
            ["0", "-0.0"],
            ["0", "0e99"],
            ["1200", "1.2E+3"],
            ["0.05", "5e-2"],
            ["12345678901234567890123", "1.2345678901234567890123e22"],
        ] {
            assert_eq!(number(same[0]), number(same[1]));
            assert!(HashSet::from([number(same[0])]).contains(&number(same[1])), "{same:?}");
        }
    }

    #[test]
    fn no_digit_is_lost() {
        assert_ne!(number("9007199254740993"), number("9007199254740992"));
        assert!(number("12345678901234567890124") > number("12345678901234567890123"));
        assert!(number("0.1") < number("0.10000000000000000000001"));
    }

    #[test]
    fn the_order_is_that_of_the_values() {
        let ascending = ["-1e9", "-20", "-3", "-0.5", "0", "0.04", "0.5", "3", "3.1", "20", "1e9"];
        for pair in ascending.windows(2) {
            assert!(number(pair[0]) < number(pair[1]), "{pair:?}");
        }
    }

    #[test]
    fn only_numbers_of_json_are_numbers() {
        for text in [
            "",
            "-",
            "+3",
            ".5",
            "5.",
            "0123",
            "0x1F",
            "1_000",
            "1e",
            "1e+",
            "NaN",
            "3 ",
            "2025-10-03",
        ] {
            assert!(Number::parse(text).is_none(), "{text}");
        }
    }

    #[test]
    fn whole_numbers_may_have_a_point() {
        for (text, whole) in [
            ("3", true),
            ("3.0", true),
            ("1e3", true),
            ("0", true),
            ("3.5", false),
            ("3e-1", false),
        ] {
            assert_eq!(number(text).is_whole(), whole, "{text}");
        }
        for (text, value) in [
            ("3.0", Some(3)),
            ("1.2e2", Some(120)),
            ("0.0", Some(0)),
            ("3.5", None),
            ("-3", None),
        ] {
            assert_eq!(number(text).as_u32(), value, "{text}");
        }
        assert_eq!(Number::from(120), number("1.2e2"));
        assert_eq!(Number::from(0), number("0"));
    }

    /// Against doubles, which represent all of these exactly.
    #[test]
    fn any_two_numbers_compare_as_their_values_do() {
        let mut random = StdRng::seed_from_u64(7);
        for _ in 0..2_000 {
            let mut value = || f64::from(random.random_range(-2_000_i32..2_000)) / 16.0;
            let (a, b) = (value(), value());
            for (a_text, b_text) in [(a.to_string(), b.to_string()), (format!("{a:e}"), format!("{b:?}"))] {
                assert_eq!(
                    number(&a_text).cmp(&number(&b_text)),
                    a.partial_cmp(&b).unwrap(),
                    "{a_text} {b_text}"
                );
            }
        }
    }
}
