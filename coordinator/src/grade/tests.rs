//! What becomes of recordings when expectations change.

#![allow(clippy::unwrap_used, reason = "a test may fail by panicking")]

use mcproctor_proto::call::{CallState, ToolCall};
use mcproctor_proto::traffic::ModelTraffic;
use mcproctor_proto::turn::{TurnEnding, Usage};
use serde_json::json;

use super::*;
use crate::judge::{JudgeVerdict, Judgement, Opinion};
use crate::outcome::{FailureClass, InvalidCause, Outcome};
use crate::record::fixtures::{call, exposed, test_case, turn};
use crate::record::{AnswerChoice, AttemptRecord, RunRecord, TestCaseRecord, Tone};

/// A passed attempt with a turn for each list of calls; from the second turn on the prompts are `answers`.
fn attempt(turns: &[&[&str]], answers: &[&str]) -> AttemptRecord {
    let mut record: AttemptRecord = serde_json::from_value(json!({
        "cell": 0,
        "iteration": 1,
        "attempt": 1,
        "outcome": "passed",
        "reason": "every expectation was met",
        "last": true,
        "startedAtUnixMs": 0,
        "durationMs": 1_000,
        "worker": "worker-1",
        "sandbox": "process",
        "turns": [],
        "calls": [],
        "expectations": [],
        "exposures": [exposed()],
        "traffic": ModelTraffic::default(),
        "evidence": [],
    }))
    .unwrap();
    for (index, tools) in (0_u32..).zip(turns) {
        let mut said = turn(index, TurnEnding::Completed);
        if let Some(answer) = (index as usize).checked_sub(1).and_then(|before| answers.get(before)) {
            said.prompt = (*answer).to_owned();
        }
        record.turns.push(said);
        record.calls.extend(tools.iter().map(|tool| ToolCall {
            turn: index,
            ..call(tool, CallState::Ok)
        }));
    }
    record
}

fn graded(attempt: AttemptRecord, case: &TestCaseRecord) -> (Outcome, String) {
    regraded(attempt, case, case)
}

fn regraded(record: AttemptRecord, was: &TestCaseRecord, case: &TestCaseRecord) -> (Outcome, String) {
    let recorded = Recorded {
        record,
        judgement: Judgement::default(),
        case: was,
    };
    let graded = grade_attempt(recorded, case, None);
    assert_eq!(
        graded.not_comparable,
        graded.record.reason.starts_with("not comparable: ")
    );
    (graded.record.outcome, graded.record.reason)
}

#[test]
fn the_same_expectations_come_to_the_same() {
    let case = test_case(&["a"], &["yes"]);
    assert_eq!(graded(attempt(&[&["a"]], &[]), &case).0, Outcome::Passed);
    assert_eq!(graded(attempt(&[&[], &["a"]], &["yes"]), &case).0, Outcome::Passed);
}

#[test]
fn what_is_expected_now_decides() {
    let mut case = test_case(&["a"], &[]);
    case.expectations.forbidden_tools = vec!["b".to_owned()];
    let (outcome, reason) = graded(attempt(&[&["a", "b"]], &[]), &case);
    assert!(matches!(outcome, Outcome::Failed(_)));
    assert!(reason.starts_with("unmet: b not called – "), "{reason}");

    let mut failed = attempt(&[&["b"]], &[]);
    failed.outcome = Outcome::Failed(FailureClass::WrongTool);
    assert_eq!(graded(failed, &test_case(&["b"], &[])).0, Outcome::Passed);
}

#[test]
fn what_no_expectation_decided_stays_as_it_was() {
    let case = test_case(&[], &[]);
    for (outcome, ending) in [
        (Outcome::Invalid(InvalidCause::Server), TurnEnding::Completed),
        (Outcome::Aborted, TurnEnding::Cancelled),
        (Outcome::Failed(FailureClass::AgentError), TurnEnding::AgentError),
        (Outcome::Failed(FailureClass::RanOutOfTime), TurnEnding::TimedOut),
    ] {
        let mut record = attempt(&[&["a"]], &[]);
        record.outcome = outcome;
        record.reason = "as it was".to_owned();
        record.turns[0].ending = ending;
        assert_eq!(graded(record, &case), (outcome, "as it was".to_owned()));
    }
}

#[test]
fn a_conversation_that_would_go_on_now_is_not_comparable() {
    let case = test_case(&["a", "b"], &["yes"]);
    let (outcome, reason) = graded(attempt(&[&["a"]], &["yes"]), &case);
    assert_eq!(outcome, Outcome::Invalid(InvalidCause::Machinery));
    assert_eq!(
        reason,
        "not comparable: the conversation ended because nothing more was to be gained then, and now an answer would follow"
    );
    // With no answer to send, it would have ended there as well.
    assert!(matches!(
        graded(attempt(&[&["a"]], &[]), &test_case(&["a", "b"], &[])).0,
        Outcome::Failed(_)
    ));
    // Nor is one sent once something is broken for good.
    let mut broken = case;
    broken.expectations.forbidden_tools = vec!["a".to_owned()];
    broken.expected_tools = vec!["b".to_owned()];
    assert!(matches!(
        graded(attempt(&[&["a"]], &["yes"]), &broken).0,
        Outcome::Failed(_)
    ));
}

#[test]
fn a_conversation_that_would_have_ended_earlier_is_judged_by_its_beginning() {
    let mut case = test_case(&["a"], &["yes", "no"]);
    case.expectations.forbidden_tools = vec!["b".to_owned()];
    assert_eq!(graded(attempt(&[&["a"], &["b"]], &["yes"]), &case).0, Outcome::Passed);
}

#[test]
fn another_answer_would_have_made_another_conversation() {
    let case = test_case(&["a"], &["no"]);
    let (_, reason) = graded(attempt(&[&[], &["a"]], &["yes"]), &case);
    assert_eq!(reason, "not comparable: after turn 1 it went on with another answer");
}

fn opinion(verdict: JudgeVerdict) -> Opinion {
    Opinion {
        verdict,
        reasoning: "it is curt".to_owned(),
        model: "m".to_owned(),
        usage: Usage::default(),
        duration_ms: 1,
        at_unix_ms: 0,
    }
}

fn toned(rubric: &str, gate: bool) -> TestCaseRecord {
    TestCaseRecord {
        tone: Some(Tone {
            rubric: rubric.to_owned(),
            gate,
        }),
        ..test_case(&["a"], &[])
    }
}

#[test]
fn a_tone_that_gates_is_known_only_where_it_was_judged_by_the_same_rubric() {
    let gate = toned("kind", true);
    let not_judged = "not comparable: the tone was not judged";
    let mut curt = attempt(&[&["a"]], &[]);
    curt.expectations = vec![opinion(JudgeVerdict::Fail).tone_result()];
    curt.outcome = Outcome::Failed(FailureClass::WrongAnswer);
    let (outcome, reason) = regraded(curt.clone(), &gate, &gate);
    assert_eq!(outcome, Outcome::Failed(FailureClass::WrongAnswer));
    assert!(reason.contains("it is curt"), "{reason}");
    assert_eq!(regraded(curt.clone(), &gate, &toned("brief", true)).1, not_judged);
    assert_eq!(
        regraded(curt.clone(), &gate, &test_case(&["a"], &[])).0,
        Outcome::Passed
    );
    assert_eq!(
        regraded(attempt(&[&["a"]], &[]), &test_case(&["a"], &[]), &gate).1,
        not_judged
    );
    // What else is unmet settles it.
    let unmet = regraded(attempt(&[&["b"]], &[]), &test_case(&["a"], &[]), &gate);
    assert!(matches!(unmet.0, Outcome::Failed(_)));
}

#[test]
fn what_was_said_of_a_recording_is_kept_as_far_as_it_answers_the_same_question() {
    let said = Judgement {
        opinion: Some(opinion(JudgeVerdict::Pass)),
        tone: Some(opinion(JudgeVerdict::Fail)),
        choices: Vec::new(),
        ..Judgement::default()
    };
    let was = toned("kind", false);
    let graded = |case: &TestCaseRecord| {
        let recorded = Recorded {
            record: attempt(&[&["a"]], &[]),
            judgement: said.clone(),
            case: &was,
        };
        grade_attempt(recorded, case, None)
    };
    assert_eq!(graded(&was).judgement, said);
    // A tone that was advice then is a gate now.
    assert!(matches!(
        graded(&toned("kind", true)).record.outcome,
        Outcome::Failed(_)
    ));
    let mut another = toned("brief", false);
    another.expected_outcome = Some("the weather".to_owned());
    assert_eq!(graded(&another).judgement, Judgement::default());
}

fn picking(expected: &[&str], answers: &[&str]) -> TestCaseRecord {
    TestCaseRecord {
        answer_choice: AnswerChoice::Judge,
        ..test_case(expected, answers)
    }
}

#[test]
fn replies_that_were_picked_may_come_in_any_order_and_each_once() {
    let case = picking(&["a"], &["one", "two", "three"]);
    let talk = |answers: &[&str]| attempt(&[&[], &[], &["a"]], answers);
    assert_eq!(graded(talk(&["three", "one"]), &case).0, Outcome::Passed);
    let another = "not comparable: after turn 2 it went on with another answer";
    assert_eq!(graded(talk(&["three", "three"]), &case).1, another);
    assert_eq!(graded(talk(&["three", "four"]), &case).1, another);
}

#[test]
fn a_conversation_may_end_because_no_reply_was_picked() {
    let case = picking(&["a"], &["one", "two"]);
    let ended = attempt(&[&[], &[]], &["two"]);
    assert!(matches!(graded(ended.clone(), &case).0, Outcome::Failed(_)));
    // A reply that was not there then might have been picked.
    let more = picking(&["a"], &["one", "two", "three"]);
    assert!(regraded(ended, &case, &more).1.starts_with("not comparable: "));
    // Nor was anybody asked when everything was met.
    let met = attempt(&[&["b"]], &[]);
    let was = picking(&["b"], &["one"]);
    assert!(
        regraded(met, &was, &picking(&["a"], &["one"]))
            .1
            .starts_with("not comparable: ")
    );
}

/// A run of two agents.
fn run(names: &[&str]) -> RunRecord {
    let agent = json!({
        "name": "claude", "kind": "claude", "model": null, "version": null, "sandbox": "process", "builtinTools": "none",
        "ownLogin": false,
    });
    let case = |name: &&str| TestCaseRecord {
        name: (*name).to_owned(),
        ..test_case(&[], &[])
    };
    serde_json::from_value(json!({
        "id": "then",
        "version": "0.1.0",
        "startedAtUnixMs": 0,
        "configFile": "eval.yaml",
        "configSha256": "",
        "servers": [],
        "agents": [agent, agent],
        "testCases": names.iter().map(case).collect::<Vec<_>>(),
        "iterations": 1,
        "maxAttempts": 1,
        "seed": 1,
        "notices": [],
    }))
    .unwrap()
}

#[test]
fn test_cases_that_are_on_one_side_only_are_named() {
    let then = run(&["kept", "gone", "reworded", "moved"]);
    let mut now = run(&["moved", "kept", "new", "reworded"]).test_cases;
    now[3].prompt = "do something else".to_owned();
    let pairing = pair(&then, &now);
    assert_eq!(
        pairing.not_graded,
        [
            "`gone` is not among the test cases any more",
            "`reworded` has another prompt now; its recordings answer the old one"
        ]
    );
    assert_eq!(pairing.not_recorded, ["`new` was not part of the run"]);
    let cells: Vec<Option<u32>> = (0..8)
        .map(|cell| pairing.cell(&then, cell).map(|(cell, _)| cell))
        .collect();
    assert_eq!(cells, [Some(0), None, None, Some(1), Some(2), None, None, Some(3)]);
}

#[test]
fn changes_are_counted_and_told() {
    let change = |before, after, not_comparable| {
        Some(Change {
            agent: "claude".to_owned(),
            test_case: "weather".to_owned(),
            iteration: 3,
            before,
            after,
            why: "not comparable: x".to_owned(),
            not_comparable,
        })
    };
    let mut changes = Changes::default();
    changes.add(None);
    assert_eq!(changes.summary(), "1 result, none of them changed");
    let wrong = Outcome::Failed(FailureClass::WrongTool);
    changes.add(change(Outcome::Passed, wrong, false));
    changes.add(change(wrong, Outcome::Failed(FailureClass::TooMuch), false));
    changes.add(change(Outcome::Passed, Outcome::Invalid(InvalidCause::Machinery), true));
    assert_eq!(
        changes.summary(),
        "4 results, 3 changed: 1 failed for another reason, 1 passed → failed, 1 not comparable"
    );
    assert_eq!(
        changes.lines()[2],
        "claude · weather · iteration 3: passed → not comparable: x"
    );
    for _ in 0..200 {
        changes.add(change(Outcome::Passed, wrong, false));
    }
    assert_eq!(changes.lines().len(), 101);
    assert_eq!(changes.lines()[100], "and 103 more; the report has them all");
}
