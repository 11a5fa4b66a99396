//! Plain counts of a suite.

use super::super::Rate;
use super::super::count::{Count, sum, tried};

/// All iterations as if they were of one test case, with Wilson's range. Stands beside
/// [`these_prompts`](super::these_prompts), never alone: where N differs, a test case with more iterations weighs more.
pub fn pooled(cells: &[Count]) -> Rate {
    let sum = sum(cells);
    Rate::of(sum.passed(), sum.total())
}

/// Test cases that passed every time, out of those tried: the stricter check where repeats look alike.
pub fn distinct(cells: &[Count]) -> Rate {
    let cells = tried(cells);
    let all_passed = cells.iter().filter(|cell| cell.all_passed()).count();
    Rate::of(all_passed as u64, cells.len() as u64)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn twelve_prompts_that_always_passed_are_76_to_100_percent() {
        let cells = [Count::of(2, 2); 12];
        let distinct = distinct(&cells);
        assert_eq!((distinct.count, distinct.n), (12, 12));
        assert_eq!((distinct.range.unwrap().low * 100.0).round(), 76.0);
        assert_eq!((pooled(&cells).range.unwrap().low * 100.0).round(), 86.0);
    }

    #[test]
    fn a_case_without_valid_iterations_is_no_case() {
        let cells = [Count::of(3, 3), Count::of(0, 0), Count::of(2, 3)];
        assert_eq!((distinct(&cells).count, distinct(&cells).n), (1, 2));
        assert_eq!(pooled(&cells).n, 6);
    }
}
