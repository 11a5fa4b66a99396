//! What may be expected of prompts that were not tried.

use serde::Serialize;

use super::super::count::{Count, sum, tried};
use super::super::student::t_quantile;
use super::super::wilson::{Interval, score_interval};
use super::these_prompts::mean;

/// Below this number of test cases nothing is said about prompts like them.
pub const SMALLEST_K_TO_GENERALISE: u64 = 6;

/// The rate that may be expected of a prompt like those tried.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct LikeThese {
    /// The mean of the test cases' rates.
    pub rate: f64,
    /// Its 95% range.
    pub range: Interval,
    /// Test cases.
    pub cases: u64,
    /// Iterations.
    pub n: u64,
    /// How many independent iterations would tell as much.
    pub effective_n: f64,
    /// Degrees of freedom of the t quantile.
    pub degrees: f64,
}

/// There are too few test cases for a statement about prompts like them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, thiserror::Error)]
#[error("too few test cases to generalise: {cases} of at least {SMALLEST_K_TO_GENERALISE}")]
pub struct TooFewCases {
    /// Test cases that were tried.
    pub cases: u64,
}

/// The rate to be expected of prompts like these: Wilson's interval on the effective sample size, with a t quantile.
///
/// E. L. Korn and B. I. Graubard, "Confidence intervals for proportions with small expected number of positive counts
/// estimated from survey data", Survey Methodology 24 (1998); N. Dean and M. Pagano, "Evaluating confidence interval methods
/// for binomial proportions in clustered surveys", Journal of Survey Statistics and Methodology 3 (2015). The effective size
/// is `p (1 − p) / v`, where `v` is the variance of the mean over test cases, and at most the number of iterations. Where
/// all cases have the same rate `v` says nothing, and the effective size is the number of cases.
///
/// `v` is CR2 and its degrees of freedom are Satterthwaite's, for the weighted mean in which every case weighs the same:
/// J. E. Pustejovsky and E. Tipton, "Small-sample methods for cluster-robust variance estimation and hypothesis testing in
/// fixed effects models", Journal of Business & Economic Statistics 36 (2018). With equal N they are `s² / K` and `K − 1`.
///
/// Beyond the sources, neither end is closer to 0 or 1 than K cases that all agree would put it: one failure more must not
/// raise the lower end.
///
/// # Errors
///
/// [`TooFewCases`] under [`SMALLEST_K_TO_GENERALISE`] test cases.
pub fn like_these(cells: &[Count]) -> Result<LikeThese, TooFewCases> {
    let cells = tried(cells);
    let cases = cells.len() as u64;
    let shares: Vec<f64> = cells.iter().filter_map(|cell| cell.share()).collect();
    let Some(rate) = mean(shares.iter().copied()).filter(|_| cases >= SMALLEST_K_TO_GENERALISE) else {
        return Err(TooFewCases { cases });
    };
    let n = sum(&cells).total();
    let sizes: Vec<f64> = cells.iter().map(|cell| cell.total() as f64).collect();
    let (variance, degrees) = cr2(&shares, rate, &sizes);
    let effective_n = if variance < 1e-15 {
        cases as f64
    } else {
        (rate * (1.0 - rate) / variance).min(n as f64)
    };
    let t = t_quantile(degrees);
    let range = score_interval(rate, effective_n, t);
    let open = left_open_by(cases);
    Ok(LikeThese {
        rate,
        range: Interval {
            low: range.low.min(1.0 - open),
            high: range.high.max(open),
        },
        cases,
        n,
        effective_n,
        degrees,
    })
}

/// The share of prompts like these that may still behave otherwise when `cases` test cases all agreed: Wilson's upper end
/// of 0 out of `cases` at the t quantile.
pub(in super::super) fn left_open_by(cases: u64) -> f64 {
    let t = t_quantile(cases.saturating_sub(1).max(1) as f64);
    t * t / (cases as f64 + t * t)
}

/// The variance of the mean of `shares` and its degrees of freedom, where `sizes` iterations stand behind each share.
///
/// The closed form of CR2 for a weighted mean whose working model is independence: with `rᵢ = 1/nᵢ` and `S = Σ rᵢ / K²`,
/// the residual of case i has the working variance `(1 − 2/K) rᵢ + S`, and the residuals of i and j the covariance
/// `S − (rᵢ + rⱼ)/K`.
fn cr2(shares: &[f64], mean: f64, sizes: &[f64]) -> (f64, f64) {
    let k = shares.len() as f64;
    let s = sizes.iter().map(|n| 1.0 / n).sum::<f64>() / (k * k);
    // What each squared residual is multiplied with, so that its expectation under the working model is right.
    let corrections: Vec<f64> = sizes.iter().map(|n| 1.0 / (1.0 - 2.0 / k + n * s)).collect();
    let variance = shares
        .iter()
        .zip(&corrections)
        .map(|(share, correction)| correction * (share - mean).powi(2))
        .sum::<f64>()
        / (k * k);
    let (mut trace, mut squares) = (0.0, 0.0);
    for (i, (ni, ci)) in sizes.iter().zip(&corrections).enumerate() {
        for (j, (nj, cj)) in sizes.iter().zip(&corrections).enumerate() {
            let own = if i == j { 1.0 / ni } else { 0.0 };
            let covariance = own - (1.0 / ni + 1.0 / nj) / k + s;
            let entry = (ci * cj).sqrt() * covariance;
            squares += entry * entry;
            if i == j {
                trace += entry;
            }
        }
    }
    (variance, trace * trace / squares)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn with_equal_n_the_variance_is_that_of_a_mean() {
        let shares = [0.5, 0.6, 0.9, 1.0, 0.2, 0.8, 0.7];
        let mean = shares.iter().sum::<f64>() / 7.0;
        let (variance, degrees) = cr2(&shares, mean, &[10.0; 7]);
        let expected = shares.iter().map(|share| (share - mean).powi(2)).sum::<f64>() / 6.0 / 7.0;
        assert!((variance - expected).abs() < 1e-15 && (degrees - 6.0).abs() < 1e-9);
    }

    #[test]
    fn more_iterations_of_the_same_cases_say_nothing_new_about_others() {
        let few: Vec<_> = (0..12).map(|case| Count::of(5 * (case % 2), 5)).collect();
        let many: Vec<_> = (0..12).map(|case| Count::of(500 * (case % 2), 500)).collect();
        let (few, many) = (like_these(&few).unwrap().range, like_these(&many).unwrap().range);
        assert!((few.low - many.low).abs() < 1e-9 && (few.high - many.high).abs() < 1e-9);
    }

    #[test]
    fn cases_that_all_passed_count_as_one_each() {
        let all = like_these(&[Count::of(100, 100); 12]).unwrap();
        assert_eq!(all.effective_n, 12.0);
        assert!(
            all.range.low < 0.76,
            "less sure than 12 independent prompts with a normal quantile: {all:?}"
        );
    }

    #[test]
    fn a_failure_more_never_raises_the_lower_end() {
        let mut cells = vec![Count::of(10, 10); 12];
        let all = like_these(&cells).unwrap().range.low;
        cells[0] = Count::of(9, 10);
        assert!(like_these(&cells).unwrap().range.low <= all);
    }

    #[test]
    fn five_cases_are_too_few() {
        let five = like_these(&[Count::of(10, 10); 5]).unwrap_err();
        assert_eq!(five.to_string(), "too few test cases to generalise: 5 of at least 6");
        assert!(like_these(&[Count::of(10, 10); 6]).is_ok());
    }
}
