//! The t distribution.

use statrs::distribution::{ContinuousCDF, StudentsT};

use super::wilson::Z;

/// The 97.5th percentile of Student's t distribution, two-sided 95%; `degrees` need not be a whole number.
pub(super) fn t_quantile(degrees: f64) -> f64 {
    match StudentsT::new(0.0, 1.0, degrees) {
        Ok(t) if degrees < 1e6 => t.inverse_cdf(0.975),
        // Beyond that it is the normal distribution in every digit that is shown.
        _ => Z,
    }
}

/// The mean of `values` and half the width of its 95% interval.
///
/// Student, "The probable error of a mean", Biometrika 6 (1908). It takes two values at least.
pub(super) fn t_interval(values: &[f64]) -> (f64, f64) {
    let k = values.len() as f64;
    let mean = values.iter().sum::<f64>() / k;
    let variance = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (k - 1.0);
    (mean, t_quantile(k - 1.0) * (variance / k).sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_agree_with_the_published_table() {
        for (degrees, expected) in [
            (1.0, 12.706_2),
            (5.0, 2.570_6),
            (7.5, 2.333_0),
            (11.0, 2.201_0),
            (30.0, 2.042_3),
            (1e7, 1.960_0),
        ] {
            assert!(
                (t_quantile(degrees) - expected).abs() < 1e-4,
                "{degrees}: {}",
                t_quantile(degrees)
            );
        }
    }
}
