//! More than two hundred recorded iterations with known truth: see `README.md` beside this file.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test may fail by panicking"
)]

#[path = "../support/mod.rs"]
mod support;

mod desk;
mod play;
mod scenario;
mod truth;

use std::collections::BTreeSet;

use mcproctor::outcome::{FailureClass, InvalidCause};

use scenario::{Group, Scenario};

/// Declares a test for every file of scenarios, and the list of them.
macro_rules! groups {
    ($($name:ident),+ $(,)?) => {
        $(#[test]
        fn $name() {
            truth::holds(stringify!($name));
        })+

        const GROUPS: &[&str] = &[$(stringify!($name)),+];
    };
}

groups!(
    calling,
    words,
    talking_on,
    tool_errors,
    agents_own,
    agents_time,
    outside,
    arguments,
    order,
    limits,
    responses,
    resources,
    budgets,
    server_faults,
    server_silence,
    server_exits,
    model_faults,
    model_silence,
    model_refuses_for_good,
    machinery_faults,
    agents_word,
    killed_worker,
    killed_worker_replaced,
    second_attempts,
);

/// Groups in which something is broken on purpose.
const FAULTS: [&str; 11] = [
    "server_faults",
    "server_silence",
    "server_exits",
    "model_faults",
    "model_silence",
    "model_refuses_for_good",
    "machinery_faults",
    "agents_word",
    "killed_worker",
    "killed_worker_replaced",
    "second_attempts",
];

#[test]
fn the_corpus_is_large_and_leaves_nothing_out() {
    let all: Vec<(&str, Vec<Scenario>)> = GROUPS
        .iter()
        .map(|name| (*name, Group::read(name).scenarios()))
        .collect();
    let count = |of: &dyn Fn(&str) -> bool| -> usize {
        let chosen = all.iter().filter(|(name, _)| of(name));
        chosen.map(|(_, scenarios)| scenarios.len()).sum()
    };
    assert!(count(&|_| true) >= 200, "{}", count(&|_| true));
    let faults = count(&|name| FAULTS.contains(&name));
    assert!(faults >= 20, "{faults}");
    let verdicts: BTreeSet<&str> = all
        .iter()
        .flat_map(|(_, scenarios)| scenarios)
        .map(|scenario| scenario.truth.verdict.as_str())
        .collect();
    let classes = FailureClass::ALL.map(|class| format!("failed/{}", class.name()));
    // A limit ends the run, not only an iteration; `limits.rs` plays it.
    let causes = InvalidCause::ALL
        .into_iter()
        .filter(|cause| *cause != InvalidCause::Limit);
    let causes: Vec<String> = causes.map(|cause| format!("invalid/{}", cause.name())).collect();
    for verdict in classes.iter().chain(&causes).map(String::as_str).chain(["passed"]) {
        assert!(verdicts.contains(verdict), "no scenario is {verdict}");
    }
    let files = std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/corpus/scenarios")).unwrap();
    assert_eq!(files.count(), GROUPS.len(), "every file is played");
}
