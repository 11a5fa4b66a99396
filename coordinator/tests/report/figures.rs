//! Figures against a small run that was counted by hand.

use mcproctor::outcome::{FailureClass, InvalidCause, Outcome};
use mcproctor::record::AttemptRecord;
use mcproctor::report::MemoryRun;
use mcproctor_proto::call::{CallState, ToolCall};
use serde_json::{Value, json};

use crate::{results, sample, schema};

/// A call of `tool` that was answered.
fn ok(tool: &str, arguments: &Value) -> ToolCall {
    sample::call(
        0,
        tool,
        arguments,
        &json!({"content": [{"type": "text", "text": "fine"}]}),
        10,
    )
}

/// A call that was told of an unknown city.
fn refused(tool: &str, arguments: &Value) -> ToolCall {
    sample::failed_call(0, tool, arguments, CallState::ToolError, "the result says isError")
}

/// Three test cases: the weather now (4 iterations), two forecasts (2), and one that needs no tool (2).
fn counted_by_hand() -> MemoryRun {
    let mut run = sample::one_agent(4);
    run.run.test_cases[2].expected_tools.clear();
    let base = run
        .attempts
        .iter()
        .find(|it| it.outcome == Outcome::Passed)
        .unwrap()
        .clone();
    let attempt = |cell, iteration, number, outcome, calls: Vec<ToolCall>| AttemptRecord {
        cell,
        iteration,
        attempt: number,
        outcome,
        last: true,
        calls,
        expectations: Vec::new(),
        ..base.clone()
    };
    let failed = Outcome::Failed;
    let lost = |iteration, number, last| AttemptRecord {
        last,
        reason: format!("get_forecast: the server answered {}", 500 + number),
        ..attempt(1, iteration, number, Outcome::Invalid(InvalidCause::Server), Vec::new())
    };
    let graz = json!({"city": "Graz"});
    let forecast = json!({"city": "Graz", "days": 1});
    run.attempts = vec![
        attempt(0, 1, 1, Outcome::Passed, vec![ok("get_current_weather", &graz)]),
        attempt(
            0,
            2,
            1,
            failed(FailureClass::WrongTool),
            vec![ok("get_forecast", &forecast)],
        ),
        attempt(0, 3, 1, failed(FailureClass::NeverCalled), Vec::new()),
        attempt(
            0,
            4,
            1,
            failed(FailureClass::ToolError),
            vec![refused("get_current_weather", &json!({"city": 3}))],
        ),
        attempt(
            1,
            1,
            1,
            Outcome::Passed,
            vec![
                refused("get_forecast", &graz),
                ok("get_forecast", &forecast),
                ok("get_forecast", &forecast),
            ],
        ),
        lost(2, 1, false),
        lost(2, 2, true),
        attempt(2, 1, 1, Outcome::Passed, Vec::new()),
        attempt(2, 2, 1, Outcome::Passed, vec![ok("list_cities", &json!({}))]),
    ];
    run
}

fn tool<'a>(results: &'a Value, name: &str) -> &'a Value {
    let tools = results["tools"].as_array().unwrap();
    tools.iter().find(|tool| tool["tool"] == name).unwrap()
}

#[test]
fn the_funnel_of_a_tool_counts_iterations_that_expect_it() {
    let results = results(&counted_by_hand());
    schema::check(&results);
    let share = |count: u64, n: u64| json!({"count": count, "n": n});
    assert_eq!(
        tool(&results, "get_current_weather")["funnel"],
        json!({
            "expected": 4, "offered": share(4, 4), "reached": share(4, 4), "called": 2, "valid": share(1, 2),
            "succeeded": 1, "answered": 1,
        })
    );
    // The iteration that was lost to the server is in no step.
    assert_eq!(
        tool(&results, "get_forecast")["funnel"],
        json!({
            "expected": 1, "offered": share(1, 1), "reached": share(1, 1), "called": 1, "valid": share(1, 1),
            "succeeded": 1, "answered": 1,
        })
    );
    assert_eq!(tool(&results, "get_forecast")["calls"], 4);
    assert_eq!(tool(&results, "get_forecast")["validCalls"], share(3, 4));
    assert_eq!(tool(&results, "list_cities")["funnel"]["expected"], 0);
    assert_eq!(tool(&results, "list_warnings")["calls"], 0);
}

#[test]
fn tokens_are_a_quarter_of_the_bytes() {
    let results = results(&counted_by_hand());
    let list: Value = serde_json::from_str(sample::TOOL_LIST).unwrap();
    let bytes = list[2].to_string().len() as f64;
    assert_eq!(tool(&results, "list_cities")["definitionTokens"], bytes / 4.0);
    let call = ok("list_cities", &json!({}));
    assert_eq!(
        tool(&results, "list_cities")["resultTokens"]["median"],
        call.bytes as f64 / 4.0
    );
}

#[test]
fn what_was_called_instead_is_counted_with_a_call_to_look_at() {
    let results = results(&counted_by_hand());
    let rows = results["findings"]["confusion"]["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 2);
    assert_eq!(rows[0]["expected"], "get_current_weather");
    assert_eq!(
        (&rows[0]["called"]["count"], &rows[0]["called"]["n"]),
        (&json!(2), &json!(4))
    );
    assert_eq!(
        rows[0]["instead"],
        json!([
            {"tool": "get_forecast", "iterations": 1, "example": {"cell": 0, "iteration": 2, "call": 0}},
            {"tool": null, "iterations": 1, "example": {"cell": 0, "iteration": 3, "call": null}},
        ])
    );
    assert_eq!(
        (&rows[1]["expected"], &rows[1]["instead"]),
        (&json!("get_forecast"), &json!([]))
    );
}

#[test]
fn arguments_that_do_not_fit_are_counted_by_field() {
    let results = results(&counted_by_hand());
    let rows = results["findings"]["argumentErrors"]["rows"].as_array().unwrap();
    let told: Vec<_> = rows
        .iter()
        .map(|row| {
            json!([
                row["tool"],
                row["field"],
                row["problem"],
                row["iterations"],
                row["calls"],
                row["bySchema"]
            ])
        })
        .collect();
    assert_eq!(
        told,
        [
            json!(["get_current_weather", "/city", "wrong type", 1, 1, true]),
            json!(["get_forecast", "/days", "missing", 1, 1, true]),
        ]
    );
    assert_eq!(rows[0]["example"], json!({"cell": 0, "iteration": 4, "call": 0}));
}

#[test]
fn an_error_is_recovered_from_when_a_later_call_of_the_tool_succeeds() {
    let results = results(&counted_by_hand());
    let rows = results["findings"]["errorTexts"]["rows"].as_array().unwrap();
    let told: Vec<_> = rows
        .iter()
        .map(|row| json!([row["tool"], row["text"], row["iterations"], row["notRecovered"]]))
        .collect();
    assert_eq!(
        told,
        [
            json!(["get_current_weather", "unknown city \"…\"", 1, 1]),
            json!(["get_forecast", "unknown city \"…\"", 1, 0]),
        ]
    );
}

#[test]
fn calls_that_were_not_needed_and_faults_of_the_server_are_counted() {
    let results = results(&counted_by_hand());
    let findings = &results["findings"];
    assert_eq!(
        (&findings["unneeded"]["count"], &findings["unneeded"]["n"]),
        (&json!(1), &json!(2))
    );
    assert_eq!(findings["unneededCalls"]["rows"][0]["tool"], "list_cities");
    let faults = findings["serverFaultTexts"]["rows"].as_array().unwrap();
    assert_eq!(faults.len(), 1);
    assert_eq!(faults[0]["text"], "get_forecast: the server answered #");
    assert_eq!((&faults[0]["attempts"], &faults[0]["followed"]), (&json!(2), &json!(1)));
}

#[test]
fn where_no_tool_list_is_kept_nothing_is_said_to_be_offered_or_valid() {
    let mut run = counted_by_hand();
    run.evidence.clear();
    let results = results(&run);
    let nothing = json!({"count": 0, "n": 0});
    let tool = tool(&results, "get_current_weather");
    assert_eq!(
        (&tool["funnel"]["offered"], &tool["funnel"]["valid"]),
        (&nothing, &nothing)
    );
    assert_eq!(tool["definitionTokens"], Value::Null);
    assert_eq!(results["findings"]["argumentErrors"]["rows"], json!([]));
}
