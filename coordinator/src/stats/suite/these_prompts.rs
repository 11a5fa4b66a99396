//! How reliably exactly these test cases are done.

use serde::Serialize;

use super::super::count::{Count, sum, tried};
use super::super::rate::SMALLEST_N_WITH_A_RATE;
use super::super::wilson::{Interval, Z, score_interval};

/// The mean of the test cases' rates.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct SuiteRate {
    /// The rate, every test case with the same weight; `None` when N is under [`SMALLEST_N_WITH_A_RATE`].
    pub rate: Option<f64>,
    /// The 95% range.
    pub range: Interval,
    /// Iterations.
    pub n: u64,
    /// Test cases.
    pub cases: u64,
}

/// The mean rate over the test cases with its stratified Wilson range, every case with the same weight; `None` when nothing
/// was tried.
///
/// X. Yan and X. G. Su, "Stratified Wilson and Newcombe confidence intervals for multiple binomial proportions", Statistics
/// in Biopharmaceutical Research 2 (2010). Each case gets a Wilson interval at one reduced quantile `z'`, and the mean of
/// the ends is the end of the suite. `z'` follows from asking that the mean lies `z` standard errors from its end, the
/// variances taken at the ends `Lᵢ`:
///
/// ```text
/// z' = z √Σ λᵢ / Σ √λᵢ,   λᵢ = Lᵢ (1 − Lᵢ) / mᵢ,   mᵢ = nᵢ − 1 + 1/K
/// ```
///
/// Three points go beyond the paper, because with few iterations a case its range covers less than 95% (see
/// `coordinator/tests/coverage.rs`). It puts the observed rates in place of the ends, which leaves out every case that
/// always passed; here the equation is solved as it stands, once for either side. It takes `nᵢ` for `mᵢ`; but the noise of a
/// case's own rate makes `Lᵢ (1 − Lᵢ)` too small by one part in `nᵢ`, except for the case's share of the mean. And the range
/// is never wider than Wilson's for cases that all have one rate, of the size `K² / Σ 1/nᵢ`, where the variance is largest:
/// where all cases always passed, with the same N, it is that of the pooled count.
pub fn these_prompts(cells: &[Count]) -> Option<SuiteRate> {
    let cells = tried(cells);
    let n = sum(&cells).total();
    let rate = mean(cells.iter().filter_map(|cell| cell.share()))?;
    let k = cells.len() as f64;
    let alike = score_interval(
        rate,
        k * k / cells.iter().map(|cell| 1.0 / cell.total() as f64).sum::<f64>(),
        Z,
    );
    let range = Interval {
        low: end(&cells, rate, |range| range.low).max(alike.low),
        high: end(&cells, rate, |range| range.high).min(alike.high),
    };
    Some(SuiteRate {
        rate: (n >= SMALLEST_N_WITH_A_RATE).then_some(rate),
        range,
        n,
        cases: cells.len() as u64,
    })
}

/// The mean of `values`; `None` when there are none.
pub(super) fn mean(values: impl IntoIterator<Item = f64>) -> Option<f64> {
    let (sum, n) = values
        .into_iter()
        .fold((0.0, 0_u64), |(sum, n), value| (sum + value, n + 1));
    (n > 0).then(|| sum / n as f64)
}

/// One end of the range, by fixed-point iteration of the equation above.
fn end(cells: &[Count], rate: f64, pick: impl Fn(Interval) -> f64) -> f64 {
    const ENOUGH: usize = 200;
    let k = cells.len() as f64;
    let strata: Vec<(f64, f64)> = cells
        .iter()
        .filter_map(|cell| Some((cell.share()?, cell.total() as f64 - 1.0 + 1.0 / k)))
        .collect();
    // What z' is where all cases are alike.
    let mut z = Z / k.sqrt();
    for _ in 0..ENOUGH {
        let (mut variances, mut deviations) = (0.0, 0.0);
        for (share, size) in &strata {
            let end = pick(score_interval(*share, *size, z));
            let variance = end * (1.0 - end) / size;
            variances += variance;
            deviations += variance.sqrt();
        }
        if deviations <= 0.0 {
            // Every case is at this end of the scale.
            return rate;
        }
        let next = Z * f64::sqrt(variances) / deviations;
        let moved = (next - z).abs();
        z = next;
        if moved < 1e-13 {
            break;
        }
    }
    mean(
        strata
            .iter()
            .map(|(share, size)| pick(score_interval(*share, *size, z))),
    )
    .unwrap_or(rate)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::super::pooled;
    use super::*;

    #[test]
    fn one_case_has_the_range_of_a_cell() {
        let one = these_prompts(&[Count::of(34, 40)]).unwrap();
        let cell = super::super::super::wilson(34, 40).unwrap();
        assert!((one.range.low - cell.low).abs() < 1e-9 && (one.range.high - cell.high).abs() < 1e-9);
    }

    #[test]
    fn cases_that_always_passed_have_the_range_of_the_pooled_count() {
        let cells = [Count::of(10, 10); 12];
        let (suite, pooled) = (these_prompts(&cells).unwrap(), pooled(&cells).range.unwrap());
        assert!((suite.range.low - pooled.low).abs() < 1e-9);
        assert_eq!(suite.range.high, 1.0);
    }

    #[test]
    fn a_case_that_failed_once_does_not_make_the_others_uncertain() {
        let mut cells = vec![Count::of(10, 10); 11];
        cells.push(Count::of(9, 10));
        let range = these_prompts(&cells).unwrap().range;
        assert!(range.low > 0.94 && range.low < 0.97, "{range:?}");
    }

    #[test]
    fn every_case_weighs_the_same_whatever_its_n() {
        let suite = these_prompts(&[Count::of(100, 100), Count::of(0, 10)]).unwrap();
        assert_eq!(suite.rate, Some(0.5));
        assert_eq!((suite.n, suite.cases), (110, 2));
    }

    #[test]
    fn nothing_tried_says_nothing() {
        assert_eq!(these_prompts(&[]), None);
        assert_eq!(these_prompts(&[Count::of(0, 0)]), None);
        assert_eq!(these_prompts(&[Count::of(2, 2), Count::of(2, 2)]).unwrap().rate, None);
    }
}
