//! A test case on both sides.

use serde::Serialize;

use super::super::count::Count;
use super::super::wilson::Interval;

/// One test case as both sides did it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Pair {
    /// The first side, which the second is compared with.
    pub a: Count,
    /// The second side.
    pub b: Count,
}

impl Pair {
    /// The rate of B minus that of A; `None` when one of them has no iteration.
    pub fn difference(self) -> Option<f64> {
        Some(self.b.share()? - self.a.share()?)
    }
}

#[cfg(test)]
impl Pair {
    /// Passed and total of both sides.
    pub(super) fn of(a: (u64, u64), b: (u64, u64)) -> Self {
        Self {
            a: Count::of(a.0, a.1),
            b: Count::of(b.0, b.1),
        }
    }
}

/// How much more often B passes than A.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct DifferenceRange {
    /// The rate of B minus that of A, in `-1.0..=1.0`.
    pub estimate: f64,
    /// Its 95% range.
    pub range: Interval,
}

/// Those of `pairs` that both sides tried.
pub(super) fn common(pairs: &[Pair]) -> Vec<Pair> {
    pairs
        .iter()
        .copied()
        .filter(|pair| pair.difference().is_some())
        .collect()
}

/// The range of a difference whose sides have these rates and ranges: R. G. Newcombe, "Interval estimation for the
/// difference between independent proportions", Statistics in Medicine 17 (1998), method 10, which squares and adds the
/// distances to the ends.
pub(super) fn square_and_add(a: (f64, Interval), b: (f64, Interval)) -> DifferenceRange {
    let estimate = b.0 - a.0;
    DifferenceRange {
        estimate,
        range: Interval {
            low: (estimate - f64::hypot(b.0 - b.1.low, a.1.high - a.0)).max(-1.0),
            high: (estimate + f64::hypot(b.1.high - b.0, a.0 - a.1.low)).min(1.0),
        },
    }
}
