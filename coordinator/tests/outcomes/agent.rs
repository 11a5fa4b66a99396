//! What is the agent's: it passes or fails, and no new attempt is made.

use serde_json::json;

use crate::support::Bed;
use crate::{bed, bed_with};

#[test]
fn an_agent_that_calls_what_is_expected_passes() {
    let bed = bed();
    let ran = bed.run(&["-i", "3"]);
    assert_eq!(ran.code, Some(0));
    let results = bed.results();
    assert_eq!(results.verdicts(), ["passed"; 3]);
    assert_eq!(results["run"]["state"], "completed");
    assert_eq!((results.total("planned"), results.total("attempts")), (3, 3));
    let first = &results.iterations()[0];
    assert!(first["turns"][0]["reply"].as_str().unwrap().starts_with("Vienna: "));
    let call = &first["calls"][0];
    assert_eq!(
        (&call["tool"], &call["state"]),
        (&json!("get_current_weather"), &json!("ok"))
    );
    assert_eq!(call["arguments"], json!({ "city": "Vienna" }));
    assert_eq!(first["expectations"][0]["met"], true);
    assert_eq!(first["traffic"]["observed"], true);
    let kinds: Vec<&str> = first["evidence"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|piece| piece["kind"].as_str())
        .collect();
    assert!(
        kinds.contains(&"transcript") && kinds.contains(&"calls") && kinds.contains(&"tool_list"),
        "{kinds:?}"
    );
}

#[test]
fn an_agent_that_answers_without_the_tool_fails_and_the_exit_code_is_a_success() {
    let bed = bed_with("      - answer: Sunny, I guess.\n");
    let ran = bed.run(&[]);
    assert_eq!(ran.code, Some(0));
    let results = bed.results();
    assert_eq!(results.verdict(), "failed/never_called");
    assert_eq!(
        results.reason(),
        "unmet: get_current_weather called successfully – it was never called"
    );
    assert_eq!(results.only()["attempts"], 1);
}

#[test]
fn a_call_that_ends_in_an_error_result_does_not_count() {
    let bed = bed_with(
        "      - call: {tool: get_current_weather, arguments: {city: Wien}}
      - answer: I could not find it.
",
    );
    assert_eq!(bed.run(&[]).code, Some(0));
    let results = bed.results();
    assert_eq!(results.verdict(), "failed/tool_error");
    assert_eq!(results.calls(), ["get_current_weather: tool_error"]);
    assert_eq!(
        results.reason(),
        "unmet: get_current_weather called successfully – 1 call failed and none succeeded"
    );
}

#[test]
fn a_failed_call_that_the_agent_repeats_with_success_passes() {
    let bed = bed_with(
        "      - call: {tool: get_current_weather, arguments: {city: Wien}}
      - call: {tool: get_current_weather, arguments: {city: Vienna}}
      - answer: Found it.
",
    );
    assert_eq!(bed.run(&[]).code, Some(0));
    assert_eq!(bed.results().verdict(), "passed");
}

#[test]
fn a_tool_that_is_named_twice_has_to_succeed_twice() {
    let bed = bed();
    bed.case(
        "weather",
        "The weather in Vienna?",
        &["get_current_weather", "get_current_weather"],
    );
    assert_eq!(bed.run(&[]).code, Some(0));
    let results = bed.results();
    assert_eq!(results.verdict(), "failed/never_called");
    assert!(
        results.reason().contains("1 call succeeded, 2 are needed"),
        "{}",
        results.reason()
    );
}

#[test]
fn an_agent_that_crashes_has_failed_even_after_the_expected_call() {
    let mut bed = bed();
    let crashes = bed.around_builtin("\"$@\"; echo 'out of ideas' >&2; exit 3");
    bed.agents(&[crashes]);
    assert_eq!(bed.run(&[]).code, Some(0));
    let results = bed.results();
    assert_eq!(results.verdict(), "failed/agent_error");
    assert_eq!(results.calls(), ["get_current_weather: ok"]);
    assert_eq!(results.reason(), "exit code 3: out of ideas");
    assert_eq!(results.only()["attempts"], 1);
}

#[test]
fn an_agent_that_reports_an_error_of_its_own_has_failed() {
    let mut bed = bed();
    let mut impatient = bed.builtin();
    let mut args = Bed::builtin_args();
    args.extend(["--max-steps", "1"]);
    impatient["args"] = json!(args);
    bed.agents(&[impatient]);
    assert_eq!(bed.run(&[]).code, Some(0));
    let results = bed.results();
    assert_eq!(results.verdict(), "failed/agent_error");
    assert_eq!(
        results.reason(),
        "exit code 1: failed to finish in 1 requests to the model"
    );
}

#[test]
fn an_agent_that_is_killed_by_a_signal_has_failed() {
    let mut bed = bed();
    let killed = bed.around_builtin("\"$@\"; kill -SEGV $$");
    bed.agents(&[killed]);
    assert_eq!(bed.run(&[]).code, Some(0));
    let results = bed.results();
    assert_eq!(results.verdict(), "failed/agent_error");
    assert!(results.reason().starts_with("signal 11"), "{}", results.reason());
}

#[test]
fn time_that_the_agent_spends_itself_is_its_own_and_its_children_end_with_it() {
    let mut bed = bed();
    let dawdles = bed.around_builtin("\"$@\"; sleep 86399 & sleep 86399");
    bed.agents(&[dawdles]);
    bed.config["run"]["timeoutSeconds"] = json!(3);
    assert_eq!(bed.run(&[]).code, Some(0));
    let results = bed.results();
    assert_eq!(results.verdict(), "failed/ran_out_of_time");
    assert_eq!(results.only()["attempts"], 1);
    assert_eq!(results.only()["turns"][0]["ending"], "timed_out");
    bed.wait_until_nothing_runs();
}

#[test]
fn answers_are_sent_only_while_they_are_needed() {
    let bed = Bed::new(
        "
scenarios:
  - when: asks
    steps:
      - ask: Which city?
      - call: {tool: get_current_weather, arguments: {city: Graz}}
      - answer: Sunny.
  - when: acts
    steps:
      - call: {tool: get_current_weather, arguments: {city: Vienna}}
      - answer: Sunny.
",
    );
    let answers = ["In Graz.", "And be quick."];
    bed.case_with_answers("asks", "One that asks.", &["get_current_weather"], &answers);
    bed.case_with_answers("acts", "One that acts.", &["get_current_weather"], &answers);
    assert_eq!(bed.run(&[]).code, Some(0));
    let results = bed.results();
    assert_eq!(results.verdicts(), ["passed", "passed"]);
    let prompts = |case: &str| -> Vec<String> {
        let iteration = results.iterations().iter().find(|it| it["testCase"] == case).unwrap();
        let turns = iteration["turns"].as_array().unwrap();
        turns
            .iter()
            .map(|turn| turn["prompt"].as_str().unwrap().to_owned())
            .collect()
    };
    assert_eq!(prompts("acts"), ["One that acts."]);
    assert_eq!(prompts("asks"), ["One that asks.", "In Graz."]);
}

#[test]
fn answers_that_do_not_help_are_all_sent_before_it_counts_as_failed() {
    let bed = Bed::new("scenarios: [{when: weather, steps: [{ask: Where?}, {ask: When?}, {answer: Never mind.}]}]");
    bed.case_with_answers("weather", "The weather?", &["get_current_weather"], &["Here.", "Now."]);
    assert_eq!(bed.run(&[]).code, Some(0));
    let results = bed.results();
    assert_eq!(results.verdict(), "failed/never_called");
    let replies: Vec<_> = results.only()["turns"]
        .as_array()
        .unwrap()
        .iter()
        .map(|turn| turn["reply"].clone())
        .collect();
    assert_eq!(replies, ["Where?", "When?", "Never mind."]);
}

#[test]
fn nothing_expected_passes_with_proof_that_the_tools_were_shown() {
    let bed = bed_with("      - answer: Hello.\n");
    bed.case("weather", "The weather?", &[]);
    assert_eq!(bed.run(&[]).code, Some(0));
    let results = bed.results();
    assert_eq!(results.verdict(), "passed");
    let exposure = &results.only()["exposures"][0];
    assert_eq!(
        (&exposure["initialized"], &exposure["toolsListed"]),
        (&json!(true), &json!(true))
    );
}
