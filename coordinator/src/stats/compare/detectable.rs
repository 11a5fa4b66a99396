//! The smallest difference that a number of iterations can show.

use serde::Serialize;
use statrs::distribution::{Binomial, ContinuousCDF, Discrete, Normal};

use super::super::count::Count;
use super::super::wilson::Z;
use super::fisher::fisher;

/// How often a difference of that size is shown when it is there.
const POWER: f64 = 0.80;
/// Up to this number of iterations a side the power is exact.
const MOST_EXACT: u64 = 400;

/// The nearest rates of the other side that would be told apart with a chance of 80%.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Detectable {
    /// A fall to this rate, or lower; `None` when even 0 is not told apart.
    pub fall_to: Option<f64>,
    /// A rise to this rate, or higher; `None` when even 1 is not told apart.
    pub rise_to: Option<f64>,
}

/// What Fisher's exact test at 5% can tell from a side with this `rate` and `n` iterations, when the other side has `other_n`.
///
/// The power is exact: the chance of every table that the test rejects, under binomial counts (A. Agresti, "Categorical data
/// analysis", 2013, 6.6). Above 400 iterations a side it is the normal approximation with continuity correction of
/// J. T. Casagrande, M. C. Pike and P. G. Smith, Biometrics 34 (1978). It is never computed from the difference that was
/// seen: that would only repeat the p-value (J. M. Hoenig and D. M. Heisey, "The abuse of power", The American Statistician 55,
/// 2001).
pub fn detectable(rate: f64, n: u64, other_n: u64) -> Detectable {
    let rate = rate.clamp(0.0, 1.0);
    if n == 0 || other_n == 0 {
        return Detectable {
            fall_to: None,
            rise_to: None,
        };
    }
    if n.max(other_n) > MOST_EXACT {
        return search(rate, |other| approximate_power(rate, n as f64, other, other_n as f64));
    }
    let rejected = Rejected::of(n, other_n);
    let own = binomial(n, rate);
    search(rate, |other| rejected.chance(&own, &binomial(other_n, other)))
}

/// Finds both rates by bisection: the further away, the more power.
fn search(rate: f64, power: impl Fn(f64) -> f64) -> Detectable {
    let towards = |end: f64| {
        if power(end) < POWER {
            return None;
        }
        let (mut near, mut far) = (rate, end);
        for _ in 0..30 {
            let middle = f64::midpoint(near, far);
            if power(middle) >= POWER {
                far = middle;
            } else {
                near = middle;
            }
        }
        Some(far)
    };
    Detectable {
        fall_to: towards(0.0),
        rise_to: towards(1.0),
    }
}

/// The tables that the test rejects: for each number of passes of one side, up to which and from which number of the other.
struct Rejected(Vec<(Option<usize>, Option<usize>)>);

impl Rejected {
    fn of(n: u64, other_n: u64) -> Self {
        let rejects =
            |a: u64, b: u64| fisher(Count::of(a, n), Count::of(b, other_n)).is_some_and(|test| test.p <= 0.05);
        // Both borders move up with the passes of the first side, so each is walked along once.
        let (mut up_to, mut from) = (0, 0);
        let borders = (0..=n).map(|a| {
            while up_to <= other_n && rejects(a, up_to) && (up_to as f64) * (n as f64) < (a as f64) * (other_n as f64) {
                up_to += 1;
            }
            while from <= other_n && !((from as f64) * (n as f64) > (a as f64) * (other_n as f64) && rejects(a, from)) {
                from += 1;
            }
            (
                (up_to as usize).checked_sub(1),
                (from <= other_n).then_some(from as usize),
            )
        });
        Self(borders.collect())
    }

    fn chance(&self, own: &[f64], other: &[f64]) -> f64 {
        let mut below = Vec::with_capacity(other.len());
        let mut sum = 0.0;
        for chance in other {
            sum += chance;
            below.push(sum);
        }
        let cumulated = |index: usize| below.get(index).copied().unwrap_or(1.0);
        self.0
            .iter()
            .zip(own)
            .map(|((up_to, from), chance)| {
                let low = up_to.map_or(0.0, cumulated);
                let high = from.map_or(0.0, |from| 1.0 - from.checked_sub(1).map_or(0.0, cumulated));
                chance * (low + high)
            })
            .sum()
    }
}

/// The chances of 0 to `n` passes.
fn binomial(n: u64, rate: f64) -> Vec<f64> {
    // Only a rate outside of 0 to 1 has no distribution, and rates are kept within.
    Binomial::new(rate, n).map_or_else(|_| Vec::new(), |passes| (0..=n).map(|x| passes.pmf(x)).collect())
}

fn approximate_power(p1: f64, n1: f64, p2: f64, n2: f64) -> f64 {
    let difference = (p1 - p2).abs();
    let pooled = (n1 * p1 + n2 * p2) / (n1 + n2);
    let under_none = (pooled * (1.0 - pooled) * (1.0 / n1 + 1.0 / n2)).sqrt();
    let under_some = (p1 * (1.0 - p1) / n1 + p2 * (1.0 - p2) / n2).sqrt();
    let correction = f64::midpoint(1.0 / n1, 1.0 / n2);
    let distance = difference - correction - Z * under_none;
    if under_some <= 0.0 {
        return if distance > 0.0 { 1.0 } else { 0.0 };
    }
    Normal::standard().cdf(distance / under_some)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn the_published_falls_from_ninety_percent_are_met() {
        for (n, percent) in [(10, 22.0), (20, 47.0), (40, 62.0)] {
            // In whole percent: the nearest that is told apart, so it is rounded down.
            let fall = detectable(0.9, n, n).fall_to.unwrap();
            assert_eq!((fall * 100.0).floor(), percent, "{n}: {fall}");
        }
    }

    #[test]
    fn borders_walked_along_are_those_of_every_table() {
        for (n, other_n) in [(7, 7), (12, 9), (5, 20)] {
            let walked = Rejected::of(n, other_n);
            for (a, (up_to, from)) in walked.0.iter().enumerate() {
                for b in 0..=other_n {
                    let rejected = fisher(Count::of(a as u64, n), Count::of(b, other_n)).unwrap().p <= 0.05;
                    let inside =
                        up_to.is_some_and(|up_to| b as usize <= up_to) || from.is_some_and(|from| b as usize >= from);
                    assert_eq!(rejected, inside, "{a}/{n} {b}/{other_n}");
                }
            }
        }
    }

    #[test]
    fn few_iterations_show_nothing_at_all() {
        let two = detectable(0.9, 2, 2);
        assert_eq!((two.fall_to, two.rise_to), (None, None));
        assert_eq!(detectable(0.5, 0, 10).fall_to, None);
    }

    #[test]
    fn the_approximation_joins_the_exact_power() {
        let (exact, near) = (
            detectable(0.9, MOST_EXACT, MOST_EXACT),
            detectable(0.9, MOST_EXACT + 1, MOST_EXACT + 1),
        );
        assert!(
            (exact.fall_to.unwrap() - near.fall_to.unwrap()).abs() < 0.005,
            "{exact:?} {near:?}"
        );
    }

    #[test]
    fn a_rise_mirrors_a_fall() {
        let (fall, rise) = (
            detectable(0.9, 20, 20).fall_to.unwrap(),
            detectable(0.1, 20, 20).rise_to.unwrap(),
        );
        assert!((fall + rise - 1.0).abs() < 1e-6);
    }
}
