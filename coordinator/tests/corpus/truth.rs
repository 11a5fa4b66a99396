//! Compares what was recorded with what is true.

use std::collections::BTreeMap;

use mcproctor::reach::{Reached, reached_model};
use mcproctor::record::{AttemptRecord, RunRecord};
use mcproctor_proto::agent::AgentKind;

use crate::play::{Played, play, verdict};
use crate::scenario::{Group, Scenario};

/// Plays a group, and fails with everything that is not true.
pub(crate) fn holds(name: &str) {
    let group = Group::read(name);
    let scenarios = group.scenarios();
    let runs: Vec<&[Scenario]> = if group.stops {
        scenarios.chunks(1).collect()
    } else {
        vec![&scenarios]
    };
    let mut wrong = Vec::new();
    for scenarios in runs {
        let played = play(&group, scenarios);
        if played.exit != Some(group.exit) {
            wrong.push(format!("the exit code is {:?}, not {}", played.exit, group.exit));
        }
        for (index, scenario) in scenarios.iter().enumerate() {
            let differences = differences(scenario, index, &played);
            wrong.extend(differences.into_iter().map(|it| format!("{}: {it}", scenario.name)));
        }
        wrong.extend(totals(&group, scenarios, &played));
    }
    assert!(wrong.is_empty(), "{name}:\n{}", wrong.join("\n"));
}

fn differences(scenario: &Scenario, index: usize, played: &Played) -> Vec<String> {
    let cell = u32::try_from(index).unwrap();
    assert_eq!(played.run.test_cases[index].name, scenario.id);
    let mut attempts: Vec<&AttemptRecord> = played.attempts.iter().filter(|attempt| attempt.cell == cell).collect();
    attempts.sort_by_key(|attempt| attempt.attempt);
    let Some((last, earlier)) = attempts.split_last() else {
        return vec!["there is no record of it".to_owned()];
    };
    let truth = &scenario.truth;
    let mut wrong = Vec::new();
    let mut compare = |what: &str, found: String, expected: String| {
        if found != expected {
            wrong.push(format!(
                "{what}: {found} is recorded, {expected} is true ({})",
                last.reason
            ));
        }
    };
    compare("verdict", verdict(last.outcome), truth.verdict.clone());
    let verdicts: Vec<String> = earlier.iter().map(|attempt| verdict(attempt.outcome)).collect();
    compare(
        "earlier attempts",
        format!("{verdicts:?}"),
        format!("{:?}", truth.earlier),
    );
    compare(
        "calls",
        sorted(
            last.calls
                .iter()
                .map(|call| format!("{} {}", call.tool, call.state.name())),
        ),
        sorted(truth.calls.iter().cloned()),
    );
    compare("turns", last.turns.len().to_string(), truth.turns.to_string());
    let unmet = last.expectations.iter().filter(|expectation| !expectation.met).count();
    if let Some(expected) = truth.unmet.or((truth.verdict == "passed").then_some(0)) {
        compare("unmet", unmet.to_string(), expected.to_string());
    }
    let escapes: usize = last.turns.iter().map(|turn| turn.escapes.len()).sum();
    compare("escapes", escapes.to_string(), truth.escapes.to_string());
    let told = |ok: bool| if ok { "ok" } else { "refused" };
    compare(
        "requests",
        sorted(last.requests.iter().map(|it| format!("{} {}", it.name, told(it.ok)))),
        sorted(truth.requests.iter().cloned()),
    );
    if let Some(reached) = truth.reached {
        let expected = if reached { Reached::Yes } else { Reached::No };
        compare(
            "reached",
            format!("{:?}", reached_of(&played.run, index, last)),
            format!("{expected:?}"),
        );
    }
    wrong
}

fn reached_of(run: &RunRecord, case: usize, attempt: &AttemptRecord) -> Reached {
    let kind = AgentKind::from_name(&run.agents[0].kind).unwrap();
    let tool = &run.test_cases[case].expected_tools[0];
    reached_model(kind, &run.servers[0].name, tool, &attempt.traffic)
}

/// The figures of the report count what is true.
fn totals(group: &Group, scenarios: &[Scenario], played: &Played) -> Vec<String> {
    let mut expected: BTreeMap<String, u64> = BTreeMap::new();
    for scenario in scenarios {
        let counted = if group.stops {
            "without a result"
        } else {
            &scenario.truth.verdict
        };
        *expected.entry(counted.to_owned()).or_default() += 1;
    }
    let totals = &played.results["totals"];
    let mut found: BTreeMap<String, u64> = BTreeMap::new();
    for (outcome, by) in [("failed", "failedByClass"), ("invalid", "invalidByCause")] {
        for (name, count) in totals[by].as_object().unwrap() {
            found.insert(format!("{outcome}/{name}"), count.as_u64().unwrap());
        }
    }
    found.insert("passed".to_owned(), played.results.total("passed"));
    let with_a_result: u64 = found.values().sum();
    found.insert(
        "without a result".to_owned(),
        played.results.total("planned") - with_a_result,
    );
    found.retain(|_, count| *count > 0);
    if found == expected {
        Vec::new()
    } else {
        vec![format!("totals: {found:?} are reported, {expected:?} are true")]
    }
}

fn sorted(texts: impl Iterator<Item = String>) -> String {
    let mut texts: Vec<String> = texts.collect();
    texts.sort();
    format!("{texts:?}")
}
