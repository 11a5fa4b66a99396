//! The words of a comparison.

use serde::Serialize;

use super::super::wilson::Interval;

/// Differences up to this are taken as none, unless another margin is asked for: 10 points.
pub const DEFAULT_MARGIN: f64 = 0.10;

/// What a comparison says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// One side passes more often.
    DifferenceShown,
    /// Any difference is smaller than the margin.
    Equivalent,
    /// Neither can be said with these numbers of iterations.
    TooFewToTell,
}

impl Verdict {
    /// The words, with the margin that was asked for.
    pub fn words(self, margin: f64) -> String {
        match self {
            Self::DifferenceShown => "difference shown".to_owned(),
            // Two decimals at most, and none that say nothing.
            Self::Equivalent => format!("equivalent within {} points", (margin * 10_000.0).round() / 100.0),
            Self::TooFewToTell => "too few iterations to tell".to_owned(),
        }
    }
}

/// The verdict of a test's `p` and the 95% range of the difference, for a margin in `0.0..=1.0`.
///
/// The test decides whether a difference is shown, and its range has to exclude 0 as well. Whether the ranges of two rates
/// overlap is not asked: 40 of 40 and 34 of 40 overlap, yet differ (p = .026). A range inside the margin shows
/// equivalence (D. J. Schuirmann, "A comparison of the two one-sided tests procedure", 1987, with 95% in place of 90%).
pub fn verdict(p: f64, range: Interval, margin: f64) -> Verdict {
    if p <= 0.05 && !range.contains(0.0) {
        Verdict::DifferenceShown
    } else if -margin < range.low && range.high < margin {
        Verdict::Equivalent
    } else {
        Verdict::TooFewToTell
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::super::super::count::Count;
    use super::super::super::wilson;
    use super::super::{fisher, newcombe};
    use super::*;

    fn of(a: (u64, u64), b: (u64, u64)) -> Verdict {
        let (a, b) = (Count::of(a.0, a.1), Count::of(b.0, b.1));
        verdict(fisher(a, b).unwrap().p, newcombe(a, b).unwrap().range, DEFAULT_MARGIN)
    }

    #[test]
    fn published_comparisons_get_their_words() {
        assert_eq!(of((34, 40), (32, 40)), Verdict::TooFewToTell);
        assert_eq!(of((1, 24), (24, 24)), Verdict::DifferenceShown);
        assert_eq!(of((9, 24), (24, 24)), Verdict::DifferenceShown);
    }

    #[test]
    fn overlapping_ranges_do_not_hide_a_difference() {
        let (a, b) = (wilson(40, 40).unwrap(), wilson(34, 40).unwrap());
        assert!(a.low < b.high, "they overlap");
        assert_eq!(of((40, 40), (34, 40)), Verdict::DifferenceShown);
    }

    #[test]
    fn many_iterations_show_equivalence_and_few_do_not() {
        assert_eq!(of((95, 100), (96, 100)), Verdict::Equivalent);
        assert_eq!(of((10, 10), (10, 10)), Verdict::TooFewToTell);
    }

    #[test]
    fn words_name_the_margin() {
        assert_eq!(Verdict::Equivalent.words(0.1), "equivalent within 10 points");
        assert_eq!(Verdict::Equivalent.words(0.025), "equivalent within 2.5 points");
    }
}
