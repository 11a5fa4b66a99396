//! One cell against another.

use serde::Serialize;

use super::super::count::Count;
use super::hypergeometric::Passes;
use super::pair::Pair;

/// The result of an exact test.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ExactTest {
    /// The two-sided p-value of "both pass equally often".
    pub p: f64,
    /// The smallest p that these numbers of iterations and passes could have had.
    pub smallest_p: f64,
}

/// Fisher's exact test, two-sided; `None` when a side has no iteration.
///
/// R. A. Fisher, "Statistical methods for research workers" (1934). Two-sided as in R: every table at most as likely as the
/// one seen.
pub fn fisher(a: Count, b: Count) -> Option<ExactTest> {
    let pair = Pair { a, b };
    pair.difference()?;
    let passes = Passes::of(pair);
    Some(ExactTest {
        p: passes.two_sided(a.passed()),
        smallest_p: passes.smallest_p(),
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn ranges_that_overlap_can_differ_all_the_same() {
        let test = fisher(Count::of(40, 40), Count::of(34, 40)).unwrap();
        assert_eq!(format!("{:.3}", test.p), "0.026");
    }

    #[test]
    fn the_sides_can_be_swapped() {
        for (a, b) in [((3, 10), (9, 12)), ((0, 5), (5, 5)), ((1, 24), (24, 24))] {
            let (a, b) = (Count::of(a.0, a.1), Count::of(b.0, b.1));
            let (one, other) = (fisher(a, b).unwrap(), fisher(b, a).unwrap());
            assert!((one.p - other.p).abs() < 1e-12 && (one.smallest_p - other.smallest_p).abs() < 1e-12);
        }
    }

    #[test]
    fn where_everything_passed_no_difference_was_possible() {
        let test = fisher(Count::of(10, 10), Count::of(10, 10)).unwrap();
        assert_eq!((test.p, test.smallest_p), (1.0, 1.0));
        assert_eq!(fisher(Count::of(0, 0), Count::of(1, 1)), None);
    }
}
