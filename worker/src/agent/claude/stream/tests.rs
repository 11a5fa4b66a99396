#![allow(clippy::unwrap_used)]

use mcproctor_proto::turn::EscapeKind;

use super::*;
use crate::agent::transcript::{exit, lines};

fn read_from(server: &str, lines: &[Vec<u8>], exit: &Exit) -> Reading {
    let mut stream = Stream::new(&[server.to_owned()], 0);
    for line in lines {
        stream.line(line);
    }
    stream.finish(exit)
}

fn read(name: &str, code: i32) -> Reading {
    read_from("weather", &lines(name), &exit(code, ""))
}

fn kinds(reading: &Reading) -> Vec<(EscapeKind, &str)> {
    reading
        .escapes
        .iter()
        .map(|escape| (escape.kind, escape.what.as_str()))
        .collect()
}

#[test]
fn a_turn_with_a_tool_call() {
    let reading = read("claude-tool-call", 0);
    assert_eq!(reading.ending, TurnEnding::Completed);
    assert_eq!(reading.reply, "18 degrees.");
    assert_eq!(reading.model.as_deref(), Some("claude-sonnet-4-5"));
    assert_eq!(reading.reported_calls, Some(1));
    assert_eq!((&reading.escapes, &reading.warnings), (&Vec::new(), &Vec::new()));
    assert!(reading.resumable);
    // 200 fresh, 10 written to the cache and 40 from it.
    assert_eq!(
        (reading.usage.input_tokens, reading.usage.cached_input_tokens),
        (Some(250), Some(40))
    );
    assert_eq!(reading.usage.output_tokens, Some(14));
    assert_eq!(reading.usage.cost_usd, Some(0.000_859_5));
}

#[test]
fn a_call_that_the_agent_itself_turned_down_was_never_to_reach_the_server() {
    let reading = read("claude-malformed-call", 0);
    assert_eq!(
        (reading.ending, reading.reported_calls),
        (TurnEnding::Completed, Some(0))
    );
    assert!(
        reading.warnings[0].starts_with(
            "a call of `mcp__weather__get_current_weather` was turned down by the agent itself: InputValidationError"
        ),
        "{:?}",
        reading.warnings
    );
}

#[test]
fn the_usage_of_a_resumed_turn_is_its_own() {
    let reading = read("claude-resumed", 0);
    assert_eq!(
        (reading.usage.input_tokens, reading.usage.output_tokens),
        (Some(125), Some(7))
    );
}

#[test]
fn output_cut_in_the_middle_is_unreadable_although_the_exit_code_is_0() {
    let mut cut = lines("claude-tool-call");
    cut.pop();
    let last = cut.last_mut().unwrap();
    last.truncate(last.len() / 2);
    assert_eq!(read_from("weather", &cut, &exit(0, "")).ending, TurnEnding::Unreadable);
    cut.pop();
    let reading = read_from("weather", &cut, &exit(0, ""));
    assert_eq!(reading.ending, TurnEnding::Unreadable);
    assert_eq!(reading.reply, "Let me look.");
    assert_eq!(read_from("weather", &[], &exit(0, "")).ending, TurnEnding::Unreadable);
}

#[test]
fn a_known_fault_of_the_output_makes_it_unreadable_whatever_it_says() {
    let fault = Exit {
        output_fault: Some("disk full".to_owned()),
        ..exit(0, "")
    };
    assert_eq!(
        read_from("weather", &lines("claude-tool-call"), &fault).ending,
        TurnEnding::Unreadable
    );
}

#[test]
fn a_crash_without_a_result_is_the_agents_error_with_its_last_words() {
    let reading = read_from(
        "weather",
        &lines("claude-tool-call")[..2],
        &exit(1, "panic: no memory\n"),
    );
    assert_eq!(reading.ending, TurnEnding::AgentError);
    assert_eq!(reading.detail.as_deref(), Some("exit code 1: panic: no memory"));
}

#[test]
fn an_error_wins_over_a_success_by_name_and_a_rate_limit_is_told_as_one() {
    let reading = read("claude-rate-limit", 0);
    assert_eq!(reading.ending, TurnEnding::AgentError);
    assert_eq!(
        reading.detail.as_deref(),
        Some("API Error: Request rejected (429) · slow down")
    );
    assert_eq!(reading.refusal.unwrap().status, 429);
}

#[test]
fn a_lost_connection_to_the_model_is_an_error_without_a_status() {
    let reading = read("claude-connection-lost", 1);
    assert_eq!(reading.ending, TurnEnding::AgentError);
    assert_eq!(reading.refusal.unwrap().status, 0);
}

#[test]
fn an_unknown_session_is_told_by_the_list_of_errors() {
    let reading = read("claude-unknown-session", 1);
    assert_eq!(reading.ending, TurnEnding::AgentError);
    assert!(reading.detail.unwrap().starts_with("No conversation found"));
    assert_eq!(reading.refusal, None);
}

#[test]
fn an_empty_result_falls_back_to_the_last_text_with_a_warning() {
    let reading = read("claude-empty-result", 0);
    assert_eq!(reading.ending, TurnEnding::Completed);
    assert_eq!(reading.reply, "Look");
    assert!(reading.warnings[0].contains("result was empty"));
}

#[test]
fn a_server_that_was_not_connected_is_warned_of() {
    let reading = read("claude-server-pending", 0);
    assert_eq!(
        reading.warnings,
        ["MCP server `weather` was pending when the turn began"]
    );
}

#[test]
fn a_result_that_was_shown_as_a_preview_is_warned_of_without_a_path() {
    let reading = read("claude-big-result", 0);
    assert_eq!(
        reading.warnings,
        ["the agent may have seen less of the result of `mcp__weather__big`: Output too large (297.8KB)"]
    );
}

#[test]
fn every_tool_of_its_own_is_an_escape() {
    let reading = read("claude-own-tools", 0);
    assert_eq!(
        kinds(&reading),
        [
            (EscapeKind::Shell, "Bash: echo hi > /seat/elsewhere; ls"),
            (EscapeKind::Web, "WebFetch: http://127.0.0.1:1/x")
        ]
    );
    assert_eq!(reading.reported_calls, Some(0));
}

#[test]
fn what_its_own_permissions_refused_is_told() {
    let reading = read("claude-own-tools-refused", 0);
    assert!(
        reading.escapes.iter().all(|escape| escape.what.ends_with(" (refused)")),
        "{:?}",
        reading.escapes
    );
}

#[test]
fn searching_for_deferred_tools_is_no_escape() {
    let reading = read("claude-deferred", 0);
    assert_eq!((reading.reported_calls, reading.escapes), (Some(1), Vec::new()));
}

#[test]
fn the_tools_of_a_server_are_known_whatever_its_name_holds() {
    assert_eq!(prefix("my.dotted server"), "mcp__my_dotted_server");
    let line = br#"{"type":"assistant","message":{"content":[
        {"type":"tool_use","id":"1","name":"mcp__wea__ther__get__it","input":{}},
        {"type":"tool_use","id":"2","name":"mcp__wea__other","input":{}},
        {"type":"tool_use","id":"3","name":"Read","input":{"file_path":"/etc/passwd"}},
        {"type":"tool_use","id":"3","name":"Read","input":{"file_path":"/etc/passwd"}},
        {"type":"tool_use","id":"4","name":"Task","input":{"description":"look around"}}]}}"#;
    let reading = read_from("wea__ther", &[line.to_vec()], &exit(1, ""));
    assert_eq!(reading.reported_calls, Some(1));
    assert_eq!(
        kinds(&reading),
        [
            (EscapeKind::OtherServer, "mcp__wea__other"),
            (EscapeKind::File, "Read: /etc/passwd"),
            (EscapeKind::OtherTool, "Task: look around")
        ]
    );
}

#[test]
fn lines_of_an_unknown_shape_are_passed_over() {
    let mut all = lines("claude-tool-call");
    all.insert(1, br#"{"type":"assistant","message":"not an object"}"#.to_vec());
    all.insert(1, br#"{"type":"something_new","x":[1]}"#.to_vec());
    all.insert(1, b"[1,2]".to_vec());
    assert_eq!(read_from("weather", &all, &exit(0, "")).ending, TurnEnding::Completed);
}
