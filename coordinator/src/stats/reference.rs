//! Most figures beside the one that other people's code gives for the same counts; `scripts/stats-reference.py` writes them.

#![allow(clippy::unwrap_used, reason = "a test may fail by panicking")]

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::compare::{
    ExactTest, Pair, detectable, fisher, holm, leads, mantel_haenszel, newcombe, sign_flip, stratified_exact,
};
use super::sequence::confidence_sequence;
use super::student::t_quantile;
use super::suite::{like_these, these_prompts};
use super::{Count, Interval, pass_hat_k, wilson};

const REFERENCE: &str = include_str!("fixtures/reference.json");

/// The rows of one figure.
fn rows<T: DeserializeOwned>(figure: &str) -> Vec<T> {
    let all: Value = serde_json::from_str(REFERENCE).unwrap();
    let rows: Vec<T> = serde_json::from_value(all[figure].clone()).unwrap();
    assert!(!rows.is_empty(), "{figure}");
    rows
}

/// Passed, total.
type Cell = (u64, u64);

fn count((passed, total): Cell) -> Count {
    Count::of(passed, total)
}

fn counts(cells: &[Cell]) -> Vec<Count> {
    cells.iter().copied().map(count).collect()
}

#[derive(Deserialize)]
struct Case {
    a: Cell,
    b: Cell,
}

fn pairs(cases: &[Case]) -> Vec<Pair> {
    cases
        .iter()
        .map(|case| Pair {
            a: count(case.a),
            b: count(case.b),
        })
        .collect()
}

#[track_caller]
fn assert_close(found: f64, expected: f64, relative: f64) {
    let allowed = relative * expected.abs().max(1e-12);
    assert!((found - expected).abs() <= allowed, "{found} is not {expected}");
}

#[track_caller]
fn assert_range(found: Interval, expected: (f64, f64)) {
    assert!((found.low - expected.0).abs() < 1e-9, "{found:?} is not {expected:?}");
    assert!((found.high - expected.1).abs() < 1e-9, "{found:?} is not {expected:?}");
}

#[test]
fn wilson_agrees_with_statsmodels() {
    #[derive(Deserialize)]
    struct Row {
        cell: Cell,
        range: (f64, f64),
    }
    for row in rows::<Row>("wilson") {
        assert_range(wilson(row.cell.0, row.cell.1).unwrap(), row.range);
    }
}

#[test]
fn fisher_agrees_with_scipy() {
    #[derive(Deserialize)]
    struct Row {
        a: Cell,
        b: Cell,
        p: f64,
    }
    for row in rows::<Row>("fisher") {
        assert_close(fisher(count(row.a), count(row.b)).unwrap().p, row.p, 1e-9);
    }
}

#[test]
fn newcombe_agrees_with_statsmodels() {
    #[derive(Deserialize)]
    struct Row {
        a: Cell,
        b: Cell,
        range: (f64, f64),
    }
    for row in rows::<Row>("newcombe") {
        assert_range(newcombe(count(row.a), count(row.b)).unwrap().range, row.range);
    }
}

#[test]
fn the_stratified_test_agrees_with_r() {
    #[derive(Deserialize)]
    struct Row {
        pairs: Vec<Case>,
        p: f64,
    }
    for row in rows::<Row>("stratified") {
        assert_close(stratified_exact(&pairs(&row.pairs)).unwrap().p, row.p, 1e-9);
    }
}

#[test]
fn klingenbergs_ends_are_the_roots_of_the_score_equation() {
    #[derive(Deserialize)]
    struct Row {
        pairs: Vec<Case>,
        estimate: f64,
        range: (f64, f64),
    }
    for row in rows::<Row>("klingenberg") {
        let found = mantel_haenszel(&pairs(&row.pairs)).unwrap();
        assert_close(found.estimate, row.estimate, 1e-9);
        assert_range(found.range, row.range);
    }
}

#[test]
fn the_stratified_range_solves_the_equation_of_its_paper() {
    #[derive(Deserialize)]
    struct Row {
        cells: Vec<Cell>,
        rate: f64,
        range: (f64, f64),
    }
    for row in rows::<Row>("stratified_wilson") {
        let found = these_prompts(&counts(&row.cells)).unwrap();
        assert_close(found.rate.unwrap(), row.rate, 1e-12);
        assert_range(found.range, row.range);
    }
}

#[test]
fn variance_and_degrees_of_freedom_agree_with_whole_matrices() {
    #[derive(Deserialize)]
    struct Row {
        cells: Vec<Cell>,
        variance: f64,
        degrees: f64,
        t: f64,
    }
    for row in rows::<Row>("cr2") {
        let found = like_these(&counts(&row.cells)).unwrap();
        let effective_n = (found.rate * (1.0 - found.rate) / row.variance).min(found.n as f64);
        assert_close(found.effective_n, effective_n, 1e-9);
        assert_close(found.degrees, row.degrees, 1e-9);
        assert_close(t_quantile(found.degrees), row.t, 1e-8);
    }
}

#[test]
fn pass_hat_k_agrees_with_whole_binomial_coefficients() {
    #[derive(Deserialize)]
    struct Row {
        cells: Vec<Cell>,
        k: u64,
        estimate: f64,
    }
    for row in rows::<Row>("pass_hat_k") {
        assert_close(
            pass_hat_k(&counts(&row.cells), row.k).unwrap().estimate,
            row.estimate,
            1e-12,
        );
    }
}

#[test]
fn the_sign_flip_test_agrees_with_trying_all_signs() {
    #[derive(Deserialize)]
    struct Row {
        differences: Vec<f64>,
        p: f64,
    }
    for row in rows::<Row>("sign_flip") {
        assert_close(sign_flip(&row.differences).p, row.p, 1e-12);
    }
}

#[test]
fn holm_and_leads_agree_with_statsmodels() {
    #[derive(Deserialize)]
    struct Row {
        p: Vec<f64>,
        holm: Vec<f64>,
        leads: Vec<f64>,
    }
    for row in rows::<Row>("many") {
        let tests: Vec<_> = row.p.iter().map(|p| ExactTest { p: *p, smallest_p: 0.0 }).collect();
        for (found, expected) in holm(&tests).iter().zip(&row.holm) {
            assert_close(*found, *expected, 1e-12);
        }
        for (found, expected) in leads(&row.p).iter().zip(&row.leads) {
            assert_close(*found, *expected, 1e-12);
        }
    }
}

#[test]
fn what_can_be_told_apart_agrees_with_the_power_of_every_table() {
    #[derive(Deserialize)]
    struct Row {
        rate: f64,
        n: u64,
        other: u64,
        fall_to: Option<f64>,
        rise_to: Option<f64>,
    }
    for row in rows::<Row>("detectable") {
        let found = detectable(row.rate, row.n, row.other);
        for (found, expected) in [(found.fall_to, row.fall_to), (found.rise_to, row.rise_to)] {
            assert_eq!(found.is_some(), expected.is_some());
            if let (Some(found), Some(expected)) = (found, expected) {
                assert!((found - expected).abs() < 1e-6, "{found} is not {expected}");
            }
        }
    }
}

#[test]
fn the_confidence_sequence_agrees_with_root_finding() {
    #[derive(Deserialize)]
    struct Row {
        cell: Cell,
        range: (f64, f64),
    }
    for row in rows::<Row>("sequence") {
        assert_range(confidence_sequence(count(row.cell)), row.range);
    }
}
