//! Two agents in one test case, at any time.

use std::collections::VecDeque;

/// Which of the two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// The first.
    A,
    /// The second.
    B,
}

/// A test of "both pass equally often" that may be looked at after every iteration and stopped whenever it has decided.
///
/// R. J. Turner, A. Ly and P. D. Grünwald, "Generic e-variables for exact sequential k-sample tests that allow for optional
/// stopping", Journal of Statistical Planning and Inference 230 (2024). Iterations are taken in blocks of one of either side,
/// in the order in which they come; an iteration waits until the other side has its own. Each block multiplies the capital
/// by the likelihood of the rates estimated from the blocks before it, over that of their mean:
///
/// ```text
/// p(a | θ̂ₐ) p(b | θ̂ᵦ) / p(a | θ₀) p(b | θ₀),   θ₀ = (θ̂ₐ + θ̂ᵦ) / 2
/// ```
///
/// The estimates are posterior means under Beta(0.18, 0.18), the authors' choice. Only for one cell against one: with several
/// test cases mixed, iterations of a side would not be alike.
#[derive(Clone, Debug, Default)]
pub struct TwoAgents {
    a: Seen,
    b: Seen,
    ln_capital: f64,
    ln_largest: f64,
}

#[derive(Clone, Debug, Default)]
struct Seen {
    passed: u64,
    blocks: u64,
    waiting: VecDeque<bool>,
}

impl Seen {
    /// The estimate from the blocks so far.
    fn estimate(&self) -> f64 {
        const PRIOR: f64 = 0.18;
        (self.passed as f64 + PRIOR) / (self.blocks as f64 + 2.0 * PRIOR)
    }

    fn take(&mut self, passed: bool) {
        self.passed += u64::from(passed);
        self.blocks += 1;
    }
}

impl TwoAgents {
    /// Before the first iteration.
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes the next valid iteration of a side.
    pub fn observe(&mut self, side: Side, passed: bool) {
        match side {
            Side::A => self.a.waiting.push_back(passed),
            Side::B => self.b.waiting.push_back(passed),
        }
        if self.a.waiting.is_empty() || self.b.waiting.is_empty() {
            return;
        }
        if let (Some(a), Some(b)) = (self.a.waiting.pop_front(), self.b.waiting.pop_front()) {
            let (of_a, of_b) = (self.a.estimate(), self.b.estimate());
            let mean = f64::midpoint(of_a, of_b);
            self.ln_capital += ln_chance(a, of_a) + ln_chance(b, of_b) - ln_chance(a, mean) - ln_chance(b, mean);
            self.ln_largest = self.ln_largest.max(self.ln_capital);
            self.a.take(a);
            self.b.take(b);
        }
    }

    /// The evidence against "equally often" so far: its expectation is at most 1 if that is true.
    #[cfg(test)]
    fn e_value(&self) -> f64 {
        self.ln_capital.exp()
    }

    /// A p-value that holds at any time: one over the largest capital so far (Ville's inequality).
    pub fn p(&self) -> f64 {
        (-self.ln_largest).exp()
    }

    /// Whether a difference is shown at 5%; it stays so once it is.
    pub fn difference_shown(&self) -> bool {
        self.p() <= 0.05
    }
}

fn ln_chance(passed: bool, rate: f64) -> f64 {
    if passed { rate.ln() } else { (1.0 - rate).ln() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_large_difference_is_shown_and_stays_shown() {
        let mut test = TwoAgents::new();
        for _ in 0..12 {
            test.observe(Side::A, true);
            test.observe(Side::B, false);
        }
        assert!(test.difference_shown(), "{}", test.p());
        for _ in 0..50 {
            test.observe(Side::A, false);
            test.observe(Side::B, true);
        }
        assert!(test.difference_shown());
    }

    #[test]
    fn one_side_alone_says_nothing() {
        let mut test = TwoAgents::new();
        for _ in 0..100 {
            test.observe(Side::A, true);
        }
        assert_eq!((test.e_value(), test.p()), (1.0, 1.0));
    }

    #[test]
    fn two_agents_that_do_the_same_are_never_told_apart() {
        let mut test = TwoAgents::new();
        for i in 0..200 {
            test.observe(Side::A, i % 3 == 0);
            test.observe(Side::B, i % 3 == 0);
            assert!(!test.difference_shown());
        }
    }

    #[test]
    fn the_capital_of_every_block_is_fair() {
        // The e-variable's expectation under "equally often" is at most 1, whatever the common rate.
        let mut before = TwoAgents::new();
        for (a, b) in [(true, true), (true, false), (true, true)] {
            before.observe(Side::A, a);
            before.observe(Side::B, b);
        }
        for percent in 1..100 {
            let rate = f64::from(percent) / 100.0;
            let chance = |passed: bool| if passed { rate } else { 1.0 - rate };
            let mut expected = 0.0;
            for (a, b) in [(false, false), (false, true), (true, false), (true, true)] {
                let mut after = before.clone();
                after.observe(Side::A, a);
                after.observe(Side::B, b);
                expected += chance(a) * chance(b) * after.e_value() / before.e_value();
            }
            assert!(expected <= 1.0 + 1e-12, "{rate}: {expected}");
        }
    }
}
