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
            .contains("the test case has `maxCostUsd`, but the agent builtin (command) does not report its cost, and the price of scripted-1 is not known"),
        "{}",
        ran.stderr
    );
    assert!(!bed.reports().exists(), "nothing was run");
}

/// An agent that does not say what it used.
fn silent(bed: &Bed) -> serde_json::Value {
    bed.around_builtin("\"$@\" | sed 's/\"usage\":{[^}]*}/\"usage\":{}/'")
}

#[test]
fn what_the_relay_counts_is_compared_with_a_budget_where_the_agent_says_nothing() {
    let mut bed = Bed::new(SCENARIOS);
    bed.config["prices"] = json!({ "scripted-1": { "inputPerMillion": 1_000, "outputPerMillion": 1_000 } });
    TOKENS.iter().chain(COST).for_each(|row| row.write(&bed));
    let agent = silent(&bed);
    bed.agents(&[agent]);
    assert_eq!(bed.run(&[]).code, Some(0));
    let results = bed.results();
    let mut kinds: Vec<String> = results.verdicts();
    kinds.sort();
    kinds.dedup();
    assert_eq!(kinds, ["failed/too_much", "passed"]);
    assert_eq!(results.total("invalid"), 0);
}

#[test]
fn a_budget_that_an_agent_turns_out_not_to_report_is_not_held_against_it() {
    let mut bed = Bed::new(SCENARIOS);
    bed.config["run"]["maxAttempts"] = json!(1);
    TOKENS[0].write(&bed);
    let mut around = silent(&bed);
    // It asks the model past the relay.
    let args: Vec<String> = serde_json::from_value(around["args"].clone()).unwrap();
    let direct = format!("{}/v1", bed.model_url());
    around["args"] = args.iter().map(|arg| arg.replace("{model_url}", &direct)).collect();
    for key in ["modelApi", "baseUrl", "apiKey", "resumeArgs"] {
        around.as_object_mut().unwrap().remove(key);
    }
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
