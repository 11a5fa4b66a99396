//! Many cells at once.

use super::fisher::ExactTest;

/// The adjusted p-value of every test, in the order given: at most 5% of families of comparisons have even one below 0.05 by
/// chance.
///
/// S. Holm, "A simple sequentially rejective multiple test procedure", Scandinavian Journal of Statistics 6 (1979), with the
/// correction of R. E. Tarone, "A modified Bonferroni method for discrete data", Biometrics 46 (1990): a test whose smallest
/// possible p is above the one looked at cannot be at fault there, so it is not counted. Cells in which nearly everything
/// passed therefore cost the others nothing.
pub fn holm(tests: &[ExactTest]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..tests.len()).collect();
    order.sort_by(|left, right| tests[*left].p.total_cmp(&tests[*right].p));
    let mut adjusted = vec![1.0; tests.len()];
    let mut before = 0.0_f64;
    for (position, index) in order.iter().enumerate() {
        let p = tests[*index].p;
        let could = order[position..]
            .iter()
            .filter(|other| tests[**other].smallest_p <= p * (1.0 + 1e-9))
            .count();
        before = before.max(p * could as f64).min(1.0);
        adjusted[*index] = before;
    }
    adjusted
}

#[cfg(test)]
mod tests {
    use super::*;

    fn test(p: f64, smallest_p: f64) -> ExactTest {
        ExactTest { p, smallest_p }
    }

    #[test]
    fn without_discreteness_it_is_holms_procedure() {
        // R: p.adjust(c(.01, .04, .03, .005), "holm")
        let found = holm(&[0.01, 0.04, 0.03, 0.005].map(|p| test(p, 0.0)));
        for (found, expected) in found.iter().zip([0.03, 0.06, 0.06, 0.02]) {
            assert!((found - expected).abs() < 1e-12, "{found} {expected}");
        }
    }

    #[test]
    fn cells_that_could_show_nothing_are_not_counted() {
        let mut tests = vec![test(0.02, 0.001)];
        tests.extend([test(1.0, 1.0); 50]);
        assert!((holm(&tests)[0] - 0.02).abs() < 1e-12);
    }

    #[test]
    fn adjusted_values_are_never_smaller_and_keep_their_order() {
        let tests = [test(0.2, 0.01), test(0.01, 0.002), test(0.5, 0.3), test(0.011, 0.01)];
        let adjusted = holm(&tests);
        for (test, adjusted) in tests.iter().zip(&adjusted) {
            assert!(*adjusted >= test.p && *adjusted <= 1.0);
        }
        assert!(adjusted[1] <= adjusted[3] && adjusted[3] <= adjusted[0] && adjusted[0] <= adjusted[2]);
        assert!(holm(&[]).is_empty());
    }
}
