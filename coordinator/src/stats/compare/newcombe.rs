//! The difference of two cells.

use super::super::count::Count;
use super::super::wilson::wilson;
use super::pair::{DifferenceRange, square_and_add};

/// The rate of `b` minus that of `a` with Newcombe's interval; `None` when a side has no iteration.
///
/// R. G. Newcombe, "Interval estimation for the difference between independent proportions", Statistics in Medicine 17
/// (1998), method 10, on Wilson intervals without continuity correction.
pub fn newcombe(a: Count, b: Count) -> Option<DifferenceRange> {
    let side = |count: Count| Some((count.share()?, wilson(count.passed(), count.total())?));
    Some(square_and_add(side(a)?, side(b)?))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn the_published_examples_are_met() {
        // Newcombe (1998), table II, method 10: 56/70 - 48/80, 9/10 - 3/10, 10/10 - 0/20.
        for (a, b, low, high) in [
            ((48, 80), (56, 70), 0.0524, 0.3339),
            ((3, 10), (9, 10), 0.1705, 0.8090),
            ((0, 20), (10, 10), 0.6791, 1.0),
        ] {
            let range = newcombe(Count::of(a.0, a.1), Count::of(b.0, b.1)).unwrap().range;
            assert!(
                (range.low - low).abs() < 5e-5 && (range.high - high).abs() < 5e-5,
                "{range:?}"
            );
        }
    }
}
