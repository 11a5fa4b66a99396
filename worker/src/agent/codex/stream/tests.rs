#![allow(clippy::unwrap_used)]

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
    let reading = read("codex-tool-call", 0);
    assert_eq!(reading.ending, TurnEnding::Completed);
    assert_eq!(reading.reply, "18 degrees.");
    assert_eq!(reading.reported_calls, Some(1));
    assert_eq!(reading.escapes, []);
    assert!(reading.resumable);
    assert_eq!(
        (reading.usage.input_tokens, reading.usage.cached_input_tokens),
        (Some(240), Some(40))
    );
}

#[test]
fn reading_a_resource_is_no_call_of_the_server() {
    let mut all = lines("codex-tool-call");
    for server in ["weather", "codex"] {
        let item = r#"{"type":"item.completed","item":{"id":"r","type":"mcp_tool_call","server":"SERVER","tool":"read_mcp_resource","status":"completed"}}"#;
        all.insert(3, item.replace("SERVER", server).into_bytes());
    }
    let reading = read_from("weather", &all, &exit(0, ""));
    assert_eq!(reading.reported_calls, Some(1));
    assert_eq!(reading.escapes, []);
}

#[test]
fn a_later_failure_is_not_hidden_by_an_earlier_message_or_the_exit_code() {
    for code in [0, 1] {
        let reading = read("codex-failed-after-message", code);
        assert_eq!(reading.ending, TurnEnding::AgentError);
        assert_eq!(reading.reply, "first I look");
        assert_eq!(reading.refusal.unwrap().status, 529);
    }
}

#[test]
fn errors_that_it_got_over_do_not_fail_the_turn() {
    let mut all = lines("codex-tool-call");
    all.insert(
        3,
        br#"{"type":"error","message":"Reconnecting... 1/5 (unexpected status 502)"}"#.to_vec(),
    );
    let reading = read_from("weather", &all, &exit(0, ""));
    assert_eq!((reading.ending, reading.refusal), (TurnEnding::Completed, None));
}

#[test]
fn a_complete_turn_with_a_failing_exit_code_is_an_error() {
    assert_eq!(read("codex-tool-call", 1).ending, TurnEnding::AgentError);
}

#[test]
fn a_refused_login_keeps_its_status() {
    let reading = read("codex-unauthorized", 1);
    assert_eq!(reading.ending, TurnEnding::AgentError);
    assert_eq!(reading.refusal.unwrap().status, 401);
}

#[test]
fn calls_that_its_own_approval_refused_are_told() {
    let reading = read("codex-call-refused", 0);
    assert_eq!(reading.ending, TurnEnding::Completed);
    assert_eq!(reading.reported_calls, Some(1));
    assert!(
        reading.warnings.iter().any(|warning| warning.contains("never sent")),
        "{:?}",
        reading.warnings
    );
}

#[test]
fn output_that_ends_early_is_unreadable_although_the_exit_code_is_0() {
    let mut cut = lines("codex-tool-call");
    cut.pop();
    assert_eq!(read_from("weather", &cut, &exit(0, "")).ending, TurnEnding::Unreadable);
    let last = cut.last_mut().unwrap();
    last.truncate(last.len() - 9);
    let reading = read_from("weather", &cut, &exit(0, ""));
    assert_eq!(reading.ending, TurnEnding::Unreadable);
    assert!(reading.detail.unwrap().contains("cut"));
}

#[test]
fn an_end_before_any_turn_is_told_by_standard_error() {
    let reading = read_from(
        "weather",
        &[],
        &exit(1, "Error: required MCP servers failed to initialize: weather\n"),
    );
    assert_eq!(reading.ending, TurnEnding::AgentError);
    assert!(reading.detail.unwrap().contains("required MCP servers"));
    assert!(!reading.resumable);
}

#[test]
fn a_shell_command_is_one_escape() {
    assert_eq!(
        kinds(&read("codex-shell", 0)),
        [(EscapeKind::Shell, "/bin/bash -lc 'echo hi > /seat/elsewhere2; ls /'")]
    );
}

#[test]
fn calls_of_other_servers_are_escapes_and_its_resource_tools_are_not() {
    let reading = read_from("my.dotted", &lines("codex-other-server"), &exit(0, ""));
    assert_eq!(kinds(&reading), [(EscapeKind::OtherServer, "other: get_weather")]);
    assert_eq!(reading.reported_calls, Some(1));
}

#[test]
fn searches_and_changed_files_are_escapes_named_by_their_last_line() {
    let all = [
        br#"{"type":"item.started","item":{"id":"1","type":"web_search","query":""}}"#.to_vec(),
        br#"{"type":"item.completed","item":{"id":"1","type":"web_search","query":"weather paris"}}"#.to_vec(),
        br#"{"type":"item.completed","item":{"id":"2","type":"file_change","changes":[{"path":"a","kind":"add"},{"path":"b"}]}}"#
            .to_vec(),
    ];
    let reading = read_from("weather", &all, &exit(1, ""));
    assert_eq!(
        kinds(&reading),
        [(EscapeKind::Web, "weather paris"), (EscapeKind::File, "a, b")]
    );
}

#[test]
fn a_result_that_codex_cuts_for_the_model_is_warned_of() {
    let reading = read("codex-big-result", 0);
    assert!(
        reading
            .warnings
            .iter()
            .any(|warning| warning.contains("seen less of the result of `big`"))
    );
    assert!(
        !read("codex-tool-call", 0)
            .warnings
            .iter()
            .any(|warning| warning.contains("seen less"))
    );
}
