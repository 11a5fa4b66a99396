//! A rate with its N and its range, or the reason why there is none.

use serde::Serialize;

use super::{Interval, wilson};

/// Below this N a rate is not stated: counts and range only.
pub const SMALLEST_N_WITH_A_RATE: u64 = 5;

/// `count` out of `n`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Rate {
    /// How many.
    pub count: u64,
    /// Out of how many.
    pub n: u64,
    /// The share in `0.0..=1.0`; `None` when N is under [`SMALLEST_N_WITH_A_RATE`].
    pub rate: Option<f64>,
    /// The 95% Wilson range; `None` when N is 0.
    pub range: Option<Interval>,
}

impl Rate {
    /// `count` out of `n`; a count above `n` has neither rate nor range.
    pub fn of(count: u64, n: u64) -> Self {
        let range = wilson(count, n);
        #[expect(clippy::cast_precision_loss, reason = "counts of iterations are far below 2^52")]
        let rate = (range.is_some() && n >= SMALLEST_N_WITH_A_RATE).then(|| count as f64 / n as f64);
        Self { count, n, rate, range }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_small_n_has_a_range_but_no_rate() {
        let four = Rate::of(4, 4);
        assert_eq!(four.rate, None);
        assert!(four.range.is_some());
        assert_eq!(Rate::of(5, 5).rate, Some(1.0));
    }

    #[test]
    fn nothing_tried_says_nothing() {
        let none = Rate::of(0, 0);
        assert_eq!((none.rate, none.range), (None, None));
    }
}
