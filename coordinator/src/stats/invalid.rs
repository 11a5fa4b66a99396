//! What invalid iterations leave open.

use serde::Serialize;

use super::compare::fisher;
use super::count::Count;
use super::wilson::{Interval, wilson};

/// Above this share of invalid iterations there is no verdict of a comparison.
pub const LARGEST_INVALID_SHARE: f64 = 0.05;

/// The range of a rate whatever the `invalid` iterations would have come to: from Wilson's lower end with all of them failed
/// to its upper end with all of them passed; `None` when nothing was tried.
///
/// J. L. Horowitz and C. F. Manski, "Nonparametric analysis of randomized experiments with missing covariate and outcome
/// data", JASA 95 (2000): nothing is assumed about why an iteration is missing.
pub fn bounds_with_invalid(valid: Count, invalid: u64) -> Option<Interval> {
    let n = valid.total() + invalid;
    Some(Interval {
        low: wilson(valid.passed(), n)?.low,
        high: wilson(valid.passed() + invalid, n)?.high,
    })
}

/// Why invalid iterations stand in the way of a verdict.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum InvalidHindrance {
    /// One side has more than [`LARGEST_INVALID_SHARE`] of them; this is the larger share.
    TooMany(f64),
    /// One side has more of them than chance explains: the p of Fisher's exact test.
    Unbalanced(f64),
}

/// What stands in the way of comparing two sides; a count is the valid iterations out of all of them.
pub fn invalid_hindrance(valid_a: Count, valid_b: Count) -> Option<InvalidHindrance> {
    let share = |side: Count| side.share().map_or(0.0, |valid| 1.0 - valid);
    let larger = share(valid_a).max(share(valid_b));
    if larger > LARGEST_INVALID_SHARE {
        return Some(InvalidHindrance::TooMany(larger));
    }
    fisher(valid_a, valid_b)
        .filter(|test| test.p <= 0.05)
        .map(|test| InvalidHindrance::Unbalanced(test.p))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn the_bounds_hold_the_worst_and_the_best_case() {
        let bounds = bounds_with_invalid(Count::of(18, 19), 1).unwrap();
        assert_eq!(bounds.low, wilson(18, 20).unwrap().low);
        assert_eq!(bounds.high, wilson(19, 20).unwrap().high);
        assert_eq!(bounds_with_invalid(Count::of(18, 19), 0), wilson(18, 19));
        assert_eq!(bounds_with_invalid(Count::of(0, 0), 0), None);
        assert!(bounds_with_invalid(Count::of(0, 0), 9).is_some());
    }

    #[test]
    fn many_or_unbalanced_invalid_iterations_stand_in_the_way() {
        assert_eq!(invalid_hindrance(Count::of(100, 100), Count::of(98, 100)), None);
        assert!(matches!(
            invalid_hindrance(Count::of(100, 100), Count::of(94, 100)),
            Some(InvalidHindrance::TooMany(share)) if (share - 0.06).abs() < 1e-9
        ));
        assert!(matches!(
            invalid_hindrance(Count::of(1000, 1000), Count::of(960, 1000)),
            Some(InvalidHindrance::Unbalanced(_))
        ));
    }
}
