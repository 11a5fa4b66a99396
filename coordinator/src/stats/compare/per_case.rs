//! Two agents or two runs, on prompts like these.

use serde::Serialize;

use super::super::student::t_interval;
use super::super::suite::{SMALLEST_K_TO_GENERALISE, TooFewCases, left_open_by};
use super::super::wilson::Interval;
use super::pair::{DifferenceRange, Pair, common};
use super::sign_flip::{SignFlip, differing, sign_flip};

/// The differences of the test cases, taken as a sample of prompts.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct PerCase {
    /// Their mean and its range.
    pub difference: DifferenceRange,
    /// The test.
    pub test: SignFlip,
    /// Test cases that both sides tried.
    pub cases: u64,
}

/// The mean of the per-case differences, B minus A, with its range, and the sign-flip test.
///
/// # Errors
///
/// [`TooFewCases`] when the sides have fewer than [`SMALLEST_K_TO_GENERALISE`] test cases in common.
pub fn per_case(pairs: &[Pair]) -> Result<PerCase, TooFewCases> {
    let differences: Vec<f64> = common(pairs).iter().filter_map(|pair| pair.difference()).collect();
    Ok(PerCase {
        difference: mean_difference(&differences)?,
        test: sign_flip(&differences),
        cases: differences.len() as u64,
    })
}

/// The mean of per-case differences with Student's t interval.
///
/// Under six cases that differ the deviations say too little:
/// the range then reaches at least as far as the share of prompts that so many agreeing cases leave open.
///
/// # Errors
///
/// [`TooFewCases`] with fewer than [`SMALLEST_K_TO_GENERALISE`] differences.
pub fn mean_difference(differences: &[f64]) -> Result<DifferenceRange, TooFewCases> {
    let cases = differences.len() as u64;
    if cases < SMALLEST_K_TO_GENERALISE {
        return Err(TooFewCases { cases });
    }
    let (mean, mut half) = t_interval(differences);
    if (differing(differences).count() as u64) < SMALLEST_K_TO_GENERALISE {
        half = half.max(left_open_by(cases));
    }
    Ok(DifferenceRange {
        estimate: mean,
        range: Interval {
            low: (mean - half).max(-1.0),
            high: (mean + half).min(1.0),
        },
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::super::super::count::Count;
    use super::*;

    fn pairs(counts: &[(u64, u64)]) -> Vec<Pair> {
        counts
            .iter()
            .map(|(a, b)| Pair {
                a: Count::of(*a, 10),
                b: Count::of(*b, 10),
            })
            .collect()
    }

    #[test]
    fn twelve_cases_without_a_difference_do_not_prove_that_there_is_none() {
        let same = per_case(&pairs(&[(10, 10); 12])).unwrap();
        assert_eq!(same.difference.estimate, 0.0);
        assert!(same.difference.range.high > 0.2, "{same:?}");
        assert_eq!(same.test.differing, 0);
    }

    #[test]
    fn five_common_cases_are_too_few() {
        assert_eq!(per_case(&pairs(&[(1, 9); 5])), Err(TooFewCases { cases: 5 }));
    }

    #[test]
    fn the_mean_of_differences_has_students_interval() {
        // scipy.stats.t.interval(.95, 5, loc=.25, scale=scipy.stats.sem([.1, .2, .3, .4, .2, .3]))
        let found = per_case(&pairs(&[(1, 2), (1, 3), (1, 4), (1, 5), (1, 3), (1, 4)])).unwrap();
        let range = found.difference.range;
        assert!(
            (range.low - 0.139_934_3).abs() < 1e-6 && (range.high - 0.360_065_7).abs() < 1e-6,
            "{range:?}"
        );
    }
}
