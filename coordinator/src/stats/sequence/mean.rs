//! The rate of one cell, at any time.

use statrs::function::beta::ln_beta;

use super::super::count::Count;
use super::super::wilson::Interval;

/// 1 / 5%: what a fair bettor's capital exceeds with a chance of at most 5%, at any time (J. Ville, 1939).
const LN_ENOUGH_CAPITAL: f64 = 2.995_732_273_553_991;

/// The 95% confidence sequence of a rate: with a chance of 95% it holds the true rate after every iteration at once, so that
/// a cell may be stopped whenever its range is narrow enough.
///
/// The values `p` against which a bettor who mixes all bets by Jeffreys' Beta(½, ½) has not won 20 times the stake:
///
/// ```text
/// B(½ + s, ½ + f) / B(½, ½)  <  20 pˢ (1 − p)ᶠ
/// ```
///
/// S. R. Howard, A. Ramdas, J. McAuliffe and J. Sekhon, "Time-uniform, nonparametric, nonasymptotic confidence sequences",
/// Annals of Statistics 49 (2021), the beta-binomial mixture; as a betting game: I. Waudby-Smith and A. Ramdas, "Estimating
/// means of bounded random variables by betting", JRSS B 86 (2024).
pub fn confidence_sequence(count: Count) -> Interval {
    let (passed, failed) = (count.passed() as f64, count.failed() as f64);
    let Some(share) = count.share() else {
        return Interval { low: 0.0, high: 1.0 };
    };
    let mixture = ln_beta(0.5 + passed, 0.5 + failed) - ln_beta(0.5, 0.5);
    let refuted = |p: f64| mixture - times_ln(passed, p) - times_ln(failed, 1.0 - p) >= LN_ENOUGH_CAPITAL;
    Interval {
        low: if passed == 0.0 { 0.0 } else { edge(0.0, share, refuted) },
        high: if failed == 0.0 { 1.0 } else { edge(1.0, share, refuted) },
    }
}

/// `n ln p`, and 0 for no event of chance 0.
fn times_ln(n: f64, p: f64) -> f64 {
    if n == 0.0 { 0.0 } else { n * p.ln() }
}

/// The border between values that are refuted, on the side of `outside`, and those that are not; by bisection, and rounded
/// outwards.
fn edge(mut outside: f64, mut inside: f64, refuted: impl Fn(f64) -> bool) -> f64 {
    for _ in 0..60 {
        let middle = f64::midpoint(outside, inside);
        if refuted(middle) {
            outside = middle;
        } else {
            inside = middle;
        }
    }
    outside
}

#[cfg(test)]
mod tests {
    use super::super::super::wilson;
    use super::*;

    #[test]
    fn the_price_of_looking_at_any_time_is_a_wider_range() {
        for (passed, n) in [(10, 10), (34, 40), (50, 100), (0, 7)] {
            let (sequence, fixed) = (confidence_sequence(Count::of(passed, n)), wilson(passed, n));
            let fixed = fixed.unwrap_or(sequence);
            assert!(
                sequence.low <= fixed.low && sequence.high >= fixed.high,
                "{passed}/{n}: {sequence:?}"
            );
        }
    }

    #[test]
    fn it_narrows_and_ends_at_the_ends_of_the_scale() {
        assert_eq!(confidence_sequence(Count::of(0, 0)), Interval { low: 0.0, high: 1.0 });
        let (ten, hundred) = (
            confidence_sequence(Count::of(10, 10)),
            confidence_sequence(Count::of(100, 100)),
        );
        assert!(ten.low < hundred.low && ten.high == 1.0 && hundred.low > 0.9);
    }
}
