//! Whether differences per test case point one way.

use serde::Serialize;

use super::super::random::generator;

/// Up to this many differing test cases every assignment of signs is tried.
const MOST_ENUMERATED: usize = 18;
/// Beyond that, how many are drawn.
const DRAWS: u64 = 100_000;

/// The result of a sign-flip test.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SignFlip {
    /// The two-sided p-value of "prompts like these are as often better as worse".
    pub p: f64,
    /// The smallest p that this many differing test cases can have: 2^(1-m).
    pub smallest_p: f64,
    /// Test cases whose difference is not 0.
    pub differing: u64,
}

/// The sign-flip test of the mean of `differences`: how often a mean at least as far from 0 comes out when every difference
/// keeps its size and gets either sign.
///
/// R. A. Fisher, "The design of experiments" (1935), section 21; E. S. Edgington and P. Onghena, "Randomization tests" (2007).
/// Beyond 18 differing test cases signs are drawn, with a fixed seed, and the observed assignment counts as one of the
/// draws (B. Phipson and G. K. Smyth, "Permutation p-values should never be zero", 2010).
pub fn sign_flip(differences: &[f64]) -> SignFlip {
    let sizes: Vec<f64> = differing(differences).collect();
    let m = sizes.len();
    let observed = sizes.iter().sum::<f64>().abs() - 1e-9;
    let p = if m <= MOST_ENUMERATED {
        enumerated(&sizes, observed)
    } else {
        drawn(&sizes, observed)
    };
    SignFlip {
        p,
        smallest_p: if m == 0 {
            1.0
        } else {
            2.0_f64.powi(1 - i32::try_from(m).unwrap_or(i32::MAX))
        },
        differing: m as u64,
    }
}

/// The differences that are not 0, up to rounding.
pub(super) fn differing(differences: &[f64]) -> impl Iterator<Item = f64> {
    differences.iter().copied().filter(|d| d.abs() > 1e-12)
}

fn enumerated(sizes: &[f64], observed: f64) -> f64 {
    let all = 1_u32 << sizes.len();
    let mut sum: f64 = sizes.iter().map(|d| d.abs()).sum();
    let mut signs = vec![1.0; sizes.len()];
    let mut extreme = u32::from(sum.abs() >= observed);
    for step in 1..all {
        // Gray code: from one assignment to the next a single sign changes.
        let flipped = step.trailing_zeros() as usize;
        signs[flipped] = -signs[flipped];
        sum += 2.0 * signs[flipped] * sizes[flipped].abs();
        extreme += u32::from(sum.abs() >= observed);
    }
    f64::from(extreme) / f64::from(all)
}

fn drawn(sizes: &[f64], observed: f64) -> f64 {
    let mut random = generator();
    let extreme = (0..DRAWS)
        .filter(|_| {
            let sum: f64 = sizes.iter().map(|d| if random.below(2) == 0 { *d } else { -d }).sum();
            sum.abs() >= observed
        })
        .count();
    (extreme + 1) as f64 / (DRAWS + 1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn five_cases_that_all_point_one_way_cannot_show_a_difference() {
        let five = sign_flip(&[0.3, 0.5, 0.2, 0.9, 0.1, 0.0, 0.0]);
        assert_eq!((five.differing, five.p, five.smallest_p), (5, 0.0625, 0.0625));
        let six = sign_flip(&[0.3; 6]);
        assert_eq!((six.p, six.smallest_p), (0.03125, 0.03125));
    }

    #[test]
    fn no_difference_has_a_p_of_one() {
        assert_eq!(sign_flip(&[]).p, 1.0);
        assert_eq!(sign_flip(&[0.0, 0.0]).p, 1.0);
        assert_eq!(sign_flip(&[0.4, -0.4]).p, 1.0);
    }

    #[test]
    fn drawing_comes_close_to_trying_all() {
        let differences: Vec<f64> = (0..18).map(|i| f64::from(i % 7) / 10.0 - 0.22).collect();
        let sizes: Vec<f64> = differing(&differences).collect();
        let observed = sizes.iter().sum::<f64>().abs() - 1e-9;
        assert!((enumerated(&sizes, observed) - drawn(&sizes, observed)).abs() < 0.01);
    }

    #[test]
    fn many_cases_that_point_one_way_show_a_difference() {
        assert!(sign_flip(&[0.1; 40]).p < 0.001);
    }
}
