//! Medians and tails of durations, tokens and cost.

use serde::Serialize;

/// Median and 95th percentile of a sample, with its size; neither of an empty one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Spread {
    /// The number of values.
    pub n: u64,
    /// The median, in the unit of the values.
    pub median: Option<f64>,
    /// The 95th percentile, in the unit of the values.
    pub p95: Option<f64>,
}

/// The `p`-quantile of `sorted`, `p` in `0.0..=1.0`; `None` when there are no values.
///
/// Linear interpolation between the two nearest order statistics: definition 7 of R. J. Hyndman and Y. Fan, "Sample
/// quantiles in statistical packages", The American Statistician 50 (1996), the default of R and NumPy.
pub fn quantile(sorted: &[f64], p: f64) -> Option<f64> {
    let last = sorted.len().checked_sub(1)?;
    #[expect(clippy::cast_precision_loss, reason = "sample sizes are far below 2^52")]
    let position = p.clamp(0.0, 1.0) * last as f64;
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "the position lies in 0..=last"
    )]
    let below = position.floor() as usize;
    let (low, high) = (sorted.get(below)?, sorted.get((below + 1).min(last))?);
    Some(low + (position - position.floor()) * (high - low))
}

/// Median and 95th percentile of values in any order; values that are not finite are left out.
pub fn spread(values: impl IntoIterator<Item = f64>) -> Spread {
    let mut sorted: Vec<f64> = values.into_iter().filter(|value| value.is_finite()).collect();
    sorted.sort_by(f64::total_cmp);
    Spread {
        n: sorted.len() as u64,
        median: quantile(&sorted, 0.5),
        p95: quantile(&sorted, 0.95),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn quantiles_agree_with_numpy() {
        // numpy.quantile([1, 2, 3, 4], [0, .25, .5, .95, 1])
        let four = [1.0, 2.0, 3.0, 4.0];
        for (p, expected) in [(0.0, 1.0), (0.25, 1.75), (0.5, 2.5), (0.95, 3.85), (1.0, 4.0)] {
            assert!((quantile(&four, p).unwrap() - expected).abs() < 1e-12, "{p}");
        }
        // numpy.quantile([15, 20, 35, 40, 50], .4)
        assert!((quantile(&[15.0, 20.0, 35.0, 40.0, 50.0], 0.4).unwrap() - 29.0).abs() < 1e-12);
    }

    #[test]
    fn an_empty_sample_has_no_figures_and_one_value_is_both() {
        assert_eq!(
            spread([]),
            Spread {
                n: 0,
                median: None,
                p95: None
            }
        );
        assert_eq!(
            spread([7.0, f64::NAN]),
            Spread {
                n: 1,
                median: Some(7.0),
                p95: Some(7.0)
            }
        );
    }

    #[test]
    fn the_order_of_the_values_does_not_matter() {
        assert_eq!(spread([3.0, 1.0, 2.0]).median, Some(2.0));
    }
}
