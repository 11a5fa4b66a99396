//! What holds for every count, tried on all small ones.

#![allow(clippy::unwrap_used, reason = "a test may fail by panicking")]

use super::compare::{Pair, fisher, mantel_haenszel, newcombe, per_case, stratified_exact};
use super::sequence::confidence_sequence;
use super::suite::{like_these, pooled, these_prompts};
use super::{Count, Interval, bounds_with_invalid, pass_hat_k, wilson};

fn all_counts(most: u64) -> impl Iterator<Item = Count> {
    (1..=most).flat_map(|n| (0..=n).map(move |passed| Count::of(passed, n)))
}

/// Suites of `cases` test cases that go through many combinations of counts.
fn suites(cases: usize) -> impl Iterator<Item = Vec<Count>> {
    let counts: Vec<Count> = all_counts(6).collect();
    (0..counts.len() * 7).map(move |start| {
        (0..cases)
            .map(|case| counts[(start + case * (1 + start % 5)) % counts.len()])
            .collect()
    })
}

#[track_caller]
fn assert_holds(range: Interval, value: f64, lowest: f64) {
    let slack = 1e-9;
    assert!(
        range.low - slack <= value && value <= range.high + slack,
        "{range:?} without {value}"
    );
    assert!(lowest <= range.low && range.high <= 1.0, "{range:?}");
}

#[test]
fn ranges_of_a_cell_hold_its_rate_and_stay_on_the_scale() {
    for count in all_counts(30) {
        let share = count.share().unwrap();
        assert_holds(wilson(count.passed(), count.total()).unwrap(), share, 0.0);
        assert_holds(confidence_sequence(count), share, 0.0);
        for invalid in 0..4 {
            assert_holds(bounds_with_invalid(count, invalid).unwrap(), share, 0.0);
        }
    }
}

#[test]
fn ranges_of_a_suite_hold_its_rate_and_stay_on_the_scale() {
    for cells in suites(7) {
        let rate = cells.iter().map(|cell| cell.share().unwrap()).sum::<f64>() / 7.0;
        let pooled = pooled(&cells);
        assert_holds(these_prompts(&cells).unwrap().range, rate, 0.0);
        assert_holds(like_these(&cells).unwrap().range, rate, 0.0);
        assert_holds(pooled.range.unwrap(), pooled.rate.unwrap(), 0.0);
        let one = pass_hat_k(&cells, 1).unwrap();
        assert!((one.estimate - rate).abs() < 1e-12);
    }
}

#[test]
fn tests_give_chances_and_do_not_care_which_side_is_first() {
    for a in all_counts(9) {
        for b in all_counts(9) {
            let (test, swapped) = (fisher(a, b).unwrap(), fisher(b, a).unwrap());
            assert!(
                test.smallest_p <= test.p * (1.0 + 1e-9) && test.p <= 1.0,
                "{a:?} {b:?} {test:?}"
            );
            assert!((test.p - swapped.p).abs() < 1e-12);
            let difference = newcombe(a, b).unwrap();
            assert_holds(difference.range, difference.estimate, -1.0);
        }
    }
}

#[test]
fn comparisons_of_suites_hold_their_estimate_and_mirror_when_swapped() {
    for (a, b) in suites(7).zip(suites(7).skip(40)) {
        let pairs: Vec<Pair> = a.iter().zip(&b).map(|(a, b)| Pair { a: *a, b: *b }).collect();
        let swapped: Vec<Pair> = pairs.iter().map(|pair| Pair { a: pair.b, b: pair.a }).collect();
        let test = stratified_exact(&pairs).unwrap();
        assert!((test.p - stratified_exact(&swapped).unwrap().p).abs() < 1e-9 && test.p <= 1.0);
        let (there, back) = (mantel_haenszel(&pairs).unwrap(), mantel_haenszel(&swapped).unwrap());
        assert_holds(there.range, there.estimate, -1.0);
        assert!((there.range.low + back.range.high).abs() < 1e-9);
        let (there, back) = (per_case(&pairs).unwrap(), per_case(&swapped).unwrap());
        assert_holds(there.difference.range, there.difference.estimate, -1.0);
        assert!((there.test.p - back.test.p).abs() < 1e-12);
    }
}
