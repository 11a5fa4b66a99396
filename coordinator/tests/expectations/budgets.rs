//! Budgets that an agent does not report.

use serde_json::json;

use crate::support::Bed;
use crate::table::{COST, SCENARIOS, TOKENS};

#[test]
fn a_budget_that_an_agent_cannot_report_is_refused_before_the_run() {
    let mut bed = Bed::new(SCENARIOS);
    COST[0].write(&bed);
    let mut agent = bed.builtin();
    agent["answer"] = json!("text");
    bed.agents(&[agent]);
    let ran = bed.run(&[]);
    assert_eq!(ran.code, Some(2));
    assert!(
        ran.stderr
            .contains("the test case has `maxCostUsd`, but the agent builtin (command) does not report its cost"),
        "{}",
        ran.stderr
    );
    assert!(!bed.reports().exists(), "nothing was run");
}

#[test]
fn a_budget_that_an_agent_turns_out_not_to_report_is_not_held_against_it() {
    let mut bed = Bed::new(SCENARIOS);
    bed.config["run"]["maxAttempts"] = json!(1);
    TOKENS[0].write(&bed);
    let around = bed.around_builtin("\"$@\" | sed 's/\"usage\":{[^}]*}/\"usage\":{}/'");
    bed.agents(&[around]);
    let ran = bed.run(&[]);
    assert_eq!(ran.code, Some(3));
    let results = bed.results();
    assert_eq!(results.verdict(), "invalid/machinery");
    assert!(
        results
            .reason()
            .contains("the agent does not say how many tokens turn 1 used"),
        "{}",
        results.reason()
    );
    assert_eq!(results.only()["expectations"][0]["unchecked"], json!(true));
}
