//! What is the model's.

use serde_json::json;

use crate::bed_with;

const CALL_AND_ANSWER: &str = "
      - call: {tool: get_current_weather, arguments: {city: Vienna}}
      - answer: Sunny.
";

#[test]
fn a_refusal_that_the_agent_gets_over_by_itself_changes_nothing() {
    let bed = bed_with(&format!(
        "      - {{status: 429, times: 2, retryAfter: 0}}{CALL_AND_ANSWER}"
    ));
    assert_eq!(bed.run(&[]).code, Some(0));
    let results = bed.results();
    assert_eq!(results.verdict(), "passed");
    assert_eq!(results.only()["attempts"], 1);
}

#[test]
fn a_refusal_that_lasts_longer_than_the_agent_tries_is_got_over_by_a_new_attempt() {
    // The built-in agent asks four times.
    let bed = bed_with(&format!(
        "      - {{status: 429, times: 5, retryAfter: 0}}{CALL_AND_ANSWER}"
    ));
    assert_eq!(bed.run(&[]).code, Some(0));
    let results = bed.results();
    assert_eq!(results.verdict(), "passed");
    assert_eq!(results.only()["attempts"], 2);
    let earlier = &results.only()["earlierAttempts"][0];
    assert_eq!(
        (&earlier["outcome"], &earlier["cause"]),
        (&json!("invalid"), &json!("model"))
    );
}

#[test]
fn refusals_without_end_leave_the_iteration_invalid_after_the_last_attempt() {
    for status in [429, 500, 529] {
        let bed = bed_with(&format!("      - {{status: {status}, retryAfter: 0}}\n"));
        let ran = bed.run(&[]);
        assert_eq!(ran.code, Some(3), "{status}");
        assert_eq!(
            ran.stderr,
            "mcproctor: 1 iteration stayed invalid; the report says why\n"
        );
        let results = bed.results();
        assert_eq!(results.verdict(), "invalid/model");
        assert_eq!(results.only()["attempts"], 2);
        assert!(results.reason().contains(&status.to_string()), "{}", results.reason());
        assert_eq!(
            results["totals"]["passRate"]["n"], 0,
            "an invalid iteration is in no rate"
        );
        assert_eq!(results["run"]["state"], "completed");
    }
}

#[test]
fn a_model_that_stays_silent_is_not_the_agents_fault() {
    let mut bed = bed_with("      - hang: at-once\n");
    bed.config["run"]["timeoutSeconds"] = json!(3);
    assert_eq!(bed.run(&[]).code, Some(3));
    let results = bed.results();
    assert_eq!(results.verdict(), "invalid/model");
    assert_eq!(results.only()["attempts"], 2);
    assert!(
        results.reason().contains("waiting for the model"),
        "{}",
        results.reason()
    );
}

#[test]
fn a_model_that_stops_midway_is_not_the_agents_fault() {
    let mut bed = bed_with("      - hang: midway\n      - answer: Never to be heard in full.\n");
    bed.config["run"]["timeoutSeconds"] = json!(25);
    bed.config["run"]["maxAttempts"] = json!(1);
    assert_eq!(bed.run(&[]).code, Some(3));
    assert_eq!(bed.results().verdict(), "invalid/model");
}

#[test]
fn a_stream_that_is_cut_is_tried_again() {
    let bed = bed_with(&format!(
        "      - {{cut: at-once, times: 1, per: scenario}}{CALL_AND_ANSWER}"
    ));
    assert_eq!(bed.run(&[]).code, Some(0));
    let results = bed.results();
    assert_eq!(results.verdict(), "passed");
    assert_eq!(results.only()["attempts"], 2);
}

#[test]
fn a_model_that_cannot_be_reached_is_named() {
    let mut bed = bed_with(CALL_AND_ANSWER);
    let mut agent = bed.builtin();
    agent["baseUrl"] = json!(format!("http://{}/v1", crate::support::unused_address()));
    bed.agents(&[agent]);
    assert_eq!(bed.run(&[]).code, Some(3));
    let results = bed.results();
    assert_eq!(results.verdict(), "invalid/model");
    assert!(
        results.reason().contains("could not be reached"),
        "{}",
        results.reason()
    );
}

/// Refusals that no new attempt gets over: the run stops with one message and few requests.
fn stops_the_run(step: &str, message: &str) {
    let bed = bed_with(step);
    let ran = bed.run(&["-i", "20"]);
    assert_eq!(ran.code, Some(3));
    let said: Vec<&str> = ran.stderr.lines().collect();
    assert_eq!(said.len(), 1, "{}", ran.stderr);
    assert!(
        said[0].starts_with("mcproctor: stopped: ") && said[0].contains(message),
        "{}",
        said[0]
    );
    // Two agents at once, each of which may ask four times.
    assert!(bed.asked().len() <= 8, "{} requests", bed.asked().len());
    assert!(
        ran.stdout.contains("left without a result") && !ran.stdout.contains("tried again"),
        "{}",
        ran.stdout
    );
    let results = bed.results();
    assert_eq!(results["run"]["state"], "aborted");
    assert_eq!(results["totals"]["passRate"]["n"], 0);
    assert!(results.total("notRun") >= 16, "{:#}", results["totals"]);
}

#[test]
fn a_wrong_key_stops_the_run() {
    stops_the_run("      - status: 401\n", "check the agent's key");
    stops_the_run("      - status: 403\n", "check the agent's key");
}

#[test]
fn a_model_that_does_not_exist_stops_the_run() {
    stops_the_run("      - status: 404\n", "check the agent's model");
}

#[test]
fn a_used_up_quota_stops_the_run() {
    stops_the_run(
        "      - {status: 429, code: insufficient_quota, message: You exceeded your current quota}\n",
        "no credit or quota left",
    );
}

#[test]
fn a_tool_definition_that_the_model_refuses_is_the_servers_and_is_not_tried_again() {
    let bed = bed_with("      - status: 400\n");
    assert_eq!(bed.run(&["-i", "2"]).code, Some(3));
    let results = bed.results();
    assert_eq!(results.verdicts(), ["invalid/server"; 2]);
    let first = &results.iterations()[0];
    assert_eq!(first["attempts"], 1);
    assert!(
        first["reason"].as_str().unwrap().contains("refuses a tool definition"),
        "{first:#}"
    );
}
