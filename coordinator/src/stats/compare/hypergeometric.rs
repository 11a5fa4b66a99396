//! How the passes of two sides could have fallen, if both pass equally often.
//!
//! Not `statrs::distribution::Hypergeometric`: that goes by the logarithms of factorials, and the chances of results that
//! are equally likely then differ in their last digits, while a two-sided p has to count both. Built by ratios, the chances
//! are good to a few units in the last place.

use super::pair::Pair;

/// Tails that are less likely than this beside the most likely value are cut off when tables are joined.
const NEGLIGIBLE: f64 = 1e-40;

/// The chances of every number of passes of A, given the size of both sides and how many passed altogether.
#[derive(Clone, Debug)]
pub(super) struct Passes {
    lowest: u64,
    chances: Vec<f64>,
}

impl Passes {
    /// Those of one test case: the hypergeometric distribution, built outwards from its most likely value.
    pub(super) fn of(pair: Pair) -> Self {
        let (size_a, size_b) = (pair.a.total(), pair.b.total());
        let passed = pair.a.passed() + pair.b.passed();
        let (lowest, highest) = (passed.saturating_sub(size_b), passed.min(size_a));
        // P(x + 1) / P(x)
        let ratio = |x: u64| {
            ((passed - x) as f64 * (size_a - x) as f64) / ((x + 1) as f64 * ((size_b + x + 1) - passed) as f64)
        };
        let mode =
            (((passed + 1) as f64 * (size_a + 1) as f64 / (size_a + size_b + 2) as f64) as u64).clamp(lowest, highest);
        let mut chances = vec![0.0; (highest - lowest + 1) as usize];
        let at = |x: u64| (x - lowest) as usize;
        chances[at(mode)] = 1.0;
        for x in mode..highest {
            chances[at(x + 1)] = chances[at(x)] * ratio(x);
        }
        for x in (lowest..mode).rev() {
            chances[at(x)] = chances[at(x + 1)] / ratio(x);
        }
        let mut passes = Self { lowest, chances };
        passes.normalize();
        passes
    }

    /// The passes of A in two groups of test cases together.
    pub(super) fn join(&self, other: &Self) -> Self {
        let ((own_lowest, own), (other_lowest, others)) = (self.telling(), other.telling());
        let mut chances = vec![0.0; own.len() + others.len() - 1];
        for (i, left) in own.iter().enumerate() {
            for (j, right) in others.iter().enumerate() {
                chances[i + j] += left * right;
            }
        }
        let mut joined = Self {
            lowest: own_lowest + other_lowest,
            chances,
        };
        joined.normalize();
        joined
    }

    /// The chance of a result that is at most as likely as `observed`, as R's `fisher.test` and `mantelhaen.test` have it,
    /// with their allowance for rounding.
    pub(super) fn two_sided(&self, observed: u64) -> f64 {
        const ROUNDING: f64 = 1.0 + 1e-7;
        let own = observed
            .checked_sub(self.lowest)
            .and_then(|index| self.chances.get(usize::try_from(index).ok()?))
            .copied()
            .unwrap_or(0.0);
        let p: f64 = self.chances.iter().filter(|chance| **chance <= own * ROUNDING).sum();
        // A result in a tail that was cut off is no impossible one.
        p.clamp(NEGLIGIBLE, 1.0)
    }

    /// The smallest p that any result could have.
    pub(super) fn smallest_p(&self) -> f64 {
        [self.lowest, self.lowest + self.chances.len() as u64 - 1]
            .map(|end| self.two_sided(end))
            .into_iter()
            .fold(1.0, f64::min)
    }

    /// Without the tails that tell nothing: where the rest begins, and the rest.
    fn telling(&self) -> (u64, &[f64]) {
        let largest = self.chances.iter().copied().fold(0.0, f64::max);
        let counts = |chance: &f64| *chance > largest * NEGLIGIBLE;
        let first = self.chances.iter().position(counts).unwrap_or(0);
        let last = self.chances.iter().rposition(counts).unwrap_or(0);
        (self.lowest + first as u64, &self.chances[first..=last])
    }

    fn normalize(&mut self) {
        let sum: f64 = self.chances.iter().sum();
        for chance in &mut self.chances {
            *chance /= sum;
        }
    }
}
