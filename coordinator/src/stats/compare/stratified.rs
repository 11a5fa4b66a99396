//! Two agents or two runs, on exactly these prompts.

use super::fisher::ExactTest;
use super::hypergeometric::Passes;
use super::pair::{Pair, common};

/// The exact conditional test of "in every test case both pass equally often", stratified by test case; `None` when the sides
/// have no test case in common.
///
/// Given how many passed in each test case, the passes of A are a sum of hypergeometric numbers, one per case; two-sided as
/// in R's `mantelhaen.test(exact = TRUE)`. C. R. Mehta, N. R. Patel and R. Gray, "Computing an exact confidence interval for
/// the common odds ratio in several 2×2 contingency tables", JASA 80 (1985); A. Agresti, "Categorical data analysis" (2013),
/// 7.3.5. Numbers of iterations may differ between the sides and between test cases.
pub fn stratified_exact(pairs: &[Pair]) -> Option<ExactTest> {
    let pairs = common(pairs);
    let passes = pairs
        .iter()
        .copied()
        .map(Passes::of)
        .reduce(|sum, next| sum.join(&next))?;
    Some(ExactTest {
        p: passes.two_sided(pairs.iter().map(|pair| pair.a.passed()).sum()),
        smallest_p: passes.smallest_p(),
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::super::fisher;
    use super::*;

    #[test]
    fn one_case_is_fishers_test() {
        let one = Pair::of((34, 40), (40, 40));
        assert_eq!(stratified_exact(&[one]), fisher(one.a, one.b));
    }

    #[test]
    fn cases_in_which_everything_passed_change_nothing() {
        let telling = [Pair::of((3, 10), (9, 10)), Pair::of((5, 12), (8, 9))];
        let mut more = telling.to_vec();
        more.extend([Pair::of((10, 10), (10, 10)); 5]);
        more.push(Pair::of((0, 0), (3, 10)));
        let (less, more) = (stratified_exact(&telling).unwrap(), stratified_exact(&more).unwrap());
        assert!((less.p - more.p).abs() < 1e-12);
    }

    #[test]
    fn a_large_run_is_tested_too() {
        let pairs = [Pair::of((900, 1000), (850, 1000)); 60];
        let test = stratified_exact(&pairs).unwrap();
        assert!(test.p < 1e-30 && test.p > 0.0, "{}", test.p);
        let few_large = [Pair::of((45_000, 50_000), (45_100, 50_000)); 2];
        assert!(stratified_exact(&few_large).unwrap().p > 0.05);
        assert_eq!(stratified_exact(&[Pair::of((0, 0), (1, 1))]), None);
    }
}
