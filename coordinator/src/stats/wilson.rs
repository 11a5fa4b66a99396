//! The range of a pass rate.

use serde::Serialize;

/// The 97.5th percentile of the normal distribution: two-sided 95%.
pub(super) const Z: f64 = 1.959_963_984_540_054;

/// A 95% range: of a rate, with both ends in `0.0..=1.0`, or of a difference of two rates, with both in `-1.0..=1.0`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Interval {
    /// The lower end.
    pub low: f64,
    /// The upper end.
    pub high: f64,
}

impl Interval {
    /// Whether `value` lies in it; the ends belong to it.
    pub fn contains(&self, value: f64) -> bool {
        self.low <= value && value <= self.high
    }
}

/// The 95% Wilson score interval of `passed` out of `n`; `None` when `n` is 0 or smaller than `passed`.
///
/// E. B. Wilson, "Probable inference, the law of succession, and statistical inference", JASA 22 (1927), recommended for
/// small n by Brown, Cai and DasGupta, "Interval estimation for a binomial proportion", Statistical Science 16 (2001).
pub fn wilson(passed: u64, n: u64) -> Option<Interval> {
    (n > 0 && passed <= n).then(|| score_interval(passed as f64 / n as f64, n as f64, Z))
}

/// The score interval of a share `p` out of `n`, which need not be a whole number, at the quantile `z`.
pub(super) fn score_interval(p: f64, n: f64, z: f64) -> Interval {
    let denominator = 1.0 + z * z / n;
    let centre = p + z * z / (2.0 * n);
    let half = z * (p * (1.0 - p) / n + z * z / (4.0 * n * n)).sqrt();
    // At 0 and 1 the formula is exact only up to rounding; the ends are known.
    let low = if p <= 0.0 {
        0.0
    } else {
        ((centre - half) / denominator).max(0.0)
    };
    let high = if p >= 1.0 {
        1.0
    } else {
        ((centre + half) / denominator).min(1.0)
    };
    Interval { low, high }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn percent(passed: u64, n: u64) -> (i64, i64) {
        let range = wilson(passed, n).unwrap();
        ((range.low * 100.0).round() as i64, (range.high * 100.0).round() as i64)
    }

    #[test]
    fn published_ranges_are_met_to_the_digit() {
        assert_eq!(percent(2, 2), (34, 100));
        assert_eq!(percent(5, 5), (57, 100));
        assert_eq!(percent(10, 10), (72, 100));
        assert_eq!(percent(24, 24), (86, 100));
        assert_eq!(percent(40, 40), (91, 100));
        assert_eq!(percent(12, 12), (76, 100));
        assert_eq!(percent(34, 40), (71, 93));
        assert_eq!(percent(32, 40), (65, 90));
        assert_eq!(percent(1, 24), (1, 20));
        assert_eq!(percent(9, 24), (21, 57));
        assert_eq!(percent(2, 12), (5, 45));
        assert_eq!(percent(0, 2), (0, 66));
    }

    #[test]
    fn nothing_tried_has_no_range() {
        assert_eq!(wilson(0, 0), None);
        assert_eq!(wilson(3, 2), None);
    }
}
