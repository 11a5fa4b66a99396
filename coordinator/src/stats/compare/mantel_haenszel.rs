//! The size of a difference over test cases.

use super::super::count::Count;
use super::super::suite::these_prompts;
use super::super::wilson::{Interval, Z};
use super::pair::{DifferenceRange, Pair, common, square_and_add};

/// The Mantel-Haenszel difference of the rates, B minus A, with Klingenberg's interval; `None` when the sides have no test
/// case in common.
///
/// B. Klingenberg, "A new and improved confidence interval for the Mantel–Haenszel risk difference", Statistics in Medicine 33
/// (2014): T. Sato's variance (Biometrics 45, 1989) is taken at the difference that is asked about, not at the one seen, so
/// the range is that of a score test.
///
/// Where a side passed always or never the variance misses the other possibilities of that side. The range then reaches at
/// least as far as the stratified Newcombe interval of Yan and Su (2010).
pub fn mantel_haenszel(pairs: &[Pair]) -> Option<DifferenceRange> {
    let pairs = common(pairs);
    let klingenberg = klingenberg(&pairs)?;
    let side = |pick: fn(&Pair) -> Count| pairs.iter().map(pick).collect::<Vec<_>>();
    let (a, b) = (side(|pair| pair.a), side(|pair| pair.b));
    let extreme = |side: &[Count]| side.iter().all(|c| c.failed() == 0) || side.iter().all(|c| c.passed() == 0);
    if !extreme(&a) && !extreme(&b) {
        return Some(klingenberg);
    }
    let stratified = |side: &[Count]| {
        let suite = these_prompts(side)?;
        let cases = side.len() as f64;
        Some((
            side.iter().filter_map(|cell| cell.share()).sum::<f64>() / cases,
            suite.range,
        ))
    };
    let wide = square_and_add(stratified(&a)?, stratified(&b)?);
    Some(DifferenceRange {
        estimate: klingenberg.estimate,
        range: Interval {
            low: klingenberg.range.low.min(wide.range.low),
            high: klingenberg.range.high.max(wide.range.high),
        },
    })
}

/// Solves `(δ̂ − δ)² ≤ z² (δ P + Q) / W²` for δ; P, Q and the weights W are sums over test cases.
fn klingenberg(pairs: &[Pair]) -> Option<DifferenceRange> {
    let (mut weight, mut weighted, mut p, mut q) = (0.0, 0.0, 0.0, 0.0);
    for pair in pairs {
        let (n1, n2) = (pair.b.total() as f64, pair.a.total() as f64);
        let (y1, y2) = (pair.b.passed() as f64, pair.a.passed() as f64);
        let n = n1 + n2;
        weight += n1 * n2 / n;
        weighted += (y1 * n2 - y2 * n1) / n;
        p += (n1 * n1 * y2 - n2 * n2 * y1 + n1 * n2 * (n2 - n1) / 2.0) / (n * n);
        q += (y1 * (n2 - y2) + y2 * (n1 - y1)) / (2.0 * n);
    }
    if weight <= 0.0 {
        return None;
    }
    let estimate = weighted / weight;
    let z2 = Z * Z / (weight * weight);
    let middle = estimate + z2 * p / 2.0;
    let half = (middle * middle - estimate * estimate + z2 * q).max(0.0).sqrt();
    Some(DifferenceRange {
        estimate,
        range: Interval {
            low: (middle - half).max(-1.0),
            high: (middle + half).min(1.0),
        },
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn swapping_the_sides_mirrors_the_range() {
        let pairs = [
            Pair::of((3, 10), (9, 10)),
            Pair::of((5, 12), (8, 9)),
            Pair::of((7, 7), (6, 8)),
        ];
        let swapped = pairs.map(|pair| Pair { a: pair.b, b: pair.a });
        let (one, other) = (mantel_haenszel(&pairs).unwrap(), mantel_haenszel(&swapped).unwrap());
        assert!((one.estimate + other.estimate).abs() < 1e-12);
        assert!((one.range.low + other.range.high).abs() < 1e-12 && (one.range.high + other.range.low).abs() < 1e-12);
    }

    #[test]
    fn two_sides_that_always_passed_may_differ_all_the_same() {
        let range = mantel_haenszel(&[Pair::of((10, 10), (10, 10)); 4]).unwrap().range;
        assert!(range.low < -0.05 && range.high > 0.05, "{range:?}");
    }

    #[test]
    fn no_common_case_has_no_difference() {
        assert_eq!(mantel_haenszel(&[]), None);
        assert_eq!(mantel_haenszel(&[Pair::of((0, 0), (1, 1))]), None);
    }
}
