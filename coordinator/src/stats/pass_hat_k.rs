//! pass^k: how likely it is that k iterations in a row all pass.

use serde::Serialize;

use super::count::{Count, tried};
use super::quantile::quantile;
use super::random::generator;
use super::student::{t_interval, t_quantile};
use super::suite::{SMALLEST_K_TO_GENERALISE, left_open_by, these_prompts};
use super::wilson::{Interval, score_interval, wilson};

/// How often the test cases are drawn anew for the range.
const DRAWS: usize = 10_000;

/// The chance that `k` iterations of a test case all pass, averaged over the test cases.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct PassHatK {
    /// How many iterations in a row.
    pub k: u64,
    /// The estimate.
    pub estimate: f64,
    /// The 95% range; `None` for more than one and fewer than six test cases that did not all pass.
    pub range: Option<Interval>,
    /// Test cases.
    pub cases: u64,
}

/// pass^k cannot be estimated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, thiserror::Error)]
pub enum NotEstimable {
    /// There is no test case, or k is 0.
    #[error("not estimable: nothing was tried")]
    Nothing,
    /// Some test cases have fewer than k valid iterations.
    #[error("not estimable: {cases} test cases have fewer than {k} valid iterations")]
    TooFewIterations {
        /// How many in a row.
        k: u64,
        /// How many test cases have too few.
        cases: u64,
    },
}

/// pass^k: the mean over test cases of `C(c, k) / C(n, k)`, for c of n that passed.
///
/// S. Yao, N. Shinn, P. Razavi and K. Narasimhan, "τ-bench: a benchmark for tool-agent-user interaction in real-world
/// domains" (2024). The range is the percentile bootstrap over test cases (B. Efron and R. J. Tibshirani, "An introduction to
/// the bootstrap", 1993) with a fixed seed. Where every iteration passed there is nothing to draw from: the lower end is then
/// that of [`these_prompts`] to the power k, which holds because the mean of k-th powers is at least the k-th power of the
/// mean. A single test case has the ends of its Wilson interval to the power k.
///
/// Beyond the sources, because the bootstrap covers 85 to 92% where there are few test cases: from six on the range holds
/// two more as well, Student's interval of the mean and the score interval on the effective sample size as in
/// [`like_these`](super::suite::like_these), the size being at most the iterations over k. Neither end is closer to 0 or 1
/// than so many cases that all agree would put it.
///
/// # Errors
///
/// [`NotEstimable`] when nothing was tried, or a test case has fewer than k iterations.
pub fn pass_hat_k(cells: &[Count], k: u64) -> Result<PassHatK, NotEstimable> {
    let cells = tried(cells);
    if cells.is_empty() || k == 0 {
        return Err(NotEstimable::Nothing);
    }
    let too_few = cells.iter().filter(|cell| cell.total() < k).count() as u64;
    if too_few > 0 {
        return Err(NotEstimable::TooFewIterations { k, cases: too_few });
    }
    let chances: Vec<f64> = cells.iter().map(|cell| chance(*cell, k)).collect();
    Ok(PassHatK {
        k,
        estimate: chances.iter().sum::<f64>() / chances.len() as f64,
        range: range(&cells, &chances, k),
        cases: cells.len() as u64,
    })
}

/// `C(c, k) / C(n, k)`, factor by factor.
fn chance(cell: Count, k: u64) -> f64 {
    if cell.passed() < k {
        return 0.0;
    }
    (0..k)
        .map(|i| (cell.passed() - i) as f64 / (cell.total() - i) as f64)
        .product()
}

fn range(cells: &[Count], chances: &[f64], k: u64) -> Option<Interval> {
    let power = k as f64;
    if let [cell] = cells {
        let range = wilson(cell.passed(), cell.total())?;
        return Some(Interval {
            low: range.low.powf(power),
            high: range.high.powf(power),
        });
    }
    let generalises = cells.len() as u64 >= SMALLEST_K_TO_GENERALISE;
    let drawn = if cells.iter().all(|cell| cell.all_passed()) {
        let low = these_prompts(cells)?.range.low.powf(power);
        Interval { low, high: 1.0 }
    } else if generalises {
        bootstrap(chances)?
    } else {
        return None;
    };
    let n: u64 = cells.iter().map(|cell| cell.total()).sum();
    Some(if generalises {
        widened(drawn, chances, n as f64 / power)
    } else {
        drawn
    })
}

/// `range` and what a sample of so few test cases, and of so many times k iterations, leaves open beside it.
fn widened(range: Interval, chances: &[f64], times_k: f64) -> Interval {
    let cases = chances.len() as f64;
    let (mean, half) = t_interval(chances);
    let t = t_quantile(cases - 1.0);
    let variance = (half / t).powi(2);
    let effective = if variance < 1e-15 {
        cases
    } else {
        mean * (1.0 - mean) / variance
    };
    let score = score_interval(mean, effective.min(times_k), t);
    let open = left_open_by(chances.len() as u64);
    Interval {
        low: range.low.min(mean - half).min(score.low).min(1.0 - open).max(0.0),
        high: range.high.max(mean + half).max(score.high).max(open).min(1.0),
    }
}

fn bootstrap(chances: &[f64]) -> Option<Interval> {
    let mut random = generator();
    let mut means: Vec<f64> = (0..DRAWS)
        .map(|_| {
            let sum: f64 = (0..chances.len()).map(|_| chances[random.below(chances.len())]).sum();
            sum / chances.len() as f64
        })
        .collect();
    means.sort_by(f64::total_cmp);
    Some(Interval {
        low: quantile(&means, 0.025)?,
        high: quantile(&means, 0.975)?,
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn it_is_the_share_of_draws_of_k_that_all_pass() {
        // C(8, 3) / C(10, 3) = 56 / 120
        let one = pass_hat_k(&[Count::of(8, 10)], 3).unwrap();
        assert!((one.estimate - 56.0 / 120.0).abs() < 1e-12);
        assert_eq!(pass_hat_k(&[Count::of(2, 10)], 3).unwrap().estimate, 0.0);
        // With k of 1 it is the rate.
        assert!((pass_hat_k(&[Count::of(8, 10), Count::of(5, 10)], 1).unwrap().estimate - 0.65).abs() < 1e-12);
    }

    #[test]
    fn where_everything_passed_the_lower_end_is_wilsons_to_the_power_k() {
        let ten = pass_hat_k(&[Count::of(10, 10)], 8).unwrap();
        let low = wilson(10, 10).unwrap().low.powi(8);
        let range = ten.range.unwrap();
        assert!((range.low - low).abs() < 1e-12 && range.high == 1.0);
        assert!(pass_hat_k(&[Count::of(10, 10); 12], 8).unwrap().range.unwrap().low > low);
    }

    #[test]
    fn it_is_not_estimable_with_n_under_k() {
        let error = pass_hat_k(&[Count::of(9, 10), Count::of(3, 3)], 5).unwrap_err();
        assert_eq!(error, NotEstimable::TooFewIterations { k: 5, cases: 1 });
        assert_eq!(pass_hat_k(&[], 5).unwrap_err(), NotEstimable::Nothing);
        assert_eq!(pass_hat_k(&[Count::of(1, 1)], 0).unwrap_err(), NotEstimable::Nothing);
    }

    #[test]
    fn the_range_is_the_same_every_time_and_holds_the_estimate() {
        let cells: Vec<_> = (0..12).map(|case| Count::of(case % 4 + 7, 10)).collect();
        let first = pass_hat_k(&cells, 4).unwrap();
        assert_eq!(first, pass_hat_k(&cells, 4).unwrap());
        assert!(first.range.unwrap().contains(first.estimate));
        assert_eq!(pass_hat_k(&cells[..3], 4).unwrap().range, None);
    }
}
