//! What is the server's.

use std::sync::atomic::{AtomicU32, Ordering};

use serde_json::json;

use crate::bed;
use crate::support::{Answer, Asked, Bed, unused_address, well_at_first};

/// A bed whose model calls `look_up` of a server that answers as `answer` says.
fn looking_up(answer: impl Fn(&Asked) -> Answer + Send + Sync + 'static) -> Bed {
    let mut bed = Bed::new(
        "
scenarios:
  - when: Look
    steps:
      - call: {tool: look_up, arguments: {what: it}}
      - answer: 'Found {result}'
",
    );
    bed.case("look", "Look it up.", &["look_up"]);
    bed.serve(answer);
    bed
}

fn to_calls(answer: impl Fn() -> Answer + Send + Sync + 'static) -> impl Fn(&Asked) -> Answer + Send + Sync {
    move |asked| {
        if asked.method == "tools/call" {
            answer()
        } else {
            Answer::Usual
        }
    }
}

#[test]
fn the_fake_server_itself_is_one_that_agents_pass_with() {
    let bed = looking_up(|_| Answer::Usual);
    assert_eq!(bed.run(&[]).code, Some(0));
    assert_eq!(bed.results().verdict(), "passed");
}

#[test]
fn a_server_that_is_not_there_is_named_before_anything_runs() {
    let mut bed = bed();
    let address = unused_address();
    bed.config["mcp"]["url"] = json!(format!("http://{address}/mcp"));
    let ran = bed.run(&["-i", "20"]);
    assert_eq!(ran.code, Some(3));
    assert_eq!(ran.stderr.lines().count(), 1, "{}", ran.stderr);
    assert!(ran.stderr.contains(&address), "{}", ran.stderr);
    assert!(bed.asked().is_empty(), "no model was paid for it");
}

#[test]
fn a_server_that_goes_down_is_to_blame_at_every_attempt() {
    let bed = looking_up(well_at_first(|| Answer::Status(503)));
    let ran = bed.run(&[]);
    assert_eq!(ran.code, Some(3));
    let results = bed.results();
    assert_eq!(results.verdict(), "invalid/server");
    assert_eq!(results.only()["attempts"], 2);
    assert!(results.reason().contains("did not answer"), "{}", results.reason());
    assert_eq!(results["totals"]["serverFaults"]["count"], 2);
}

#[test]
fn a_server_that_fails_at_the_expected_call_is_to_blame() {
    let bed = looking_up(to_calls(|| Answer::Status(500)));
    assert_eq!(bed.run(&[]).code, Some(3));
    let results = bed.results();
    assert_eq!(results.verdict(), "invalid/server");
    assert_eq!(results.calls(), ["look_up: http_error"]);
    assert_eq!(results.only()["attempts"], 2);
}

#[test]
fn a_reply_that_is_no_message_is_the_servers_fault() {
    let bed = looking_up(to_calls(|| Answer::Nonsense));
    assert_eq!(bed.run(&[]).code, Some(3));
    let results = bed.results();
    assert_eq!(results.verdict(), "invalid/server");
    assert_eq!(results.calls(), ["look_up: transport_lost"]);
}

#[test]
fn a_call_that_is_never_answered_is_the_servers_fault_and_not_the_agents_time() {
    let mut bed = looking_up(to_calls(|| Answer::Silence));
    bed.config["run"]["timeoutSeconds"] = json!(3);
    assert_eq!(bed.run(&[]).code, Some(3));
    let results = bed.results();
    assert_eq!(results.verdict(), "invalid/server");
    assert_eq!(results.calls(), ["look_up: never_finished"]);
    assert_eq!(results.only()["attempts"], 2);
    assert!(results.reason().contains("look_up"), "{}", results.reason());
}

#[test]
fn a_server_that_fails_once_is_counted_and_got_over() {
    let calls = AtomicU32::new(0);
    let bed = looking_up(to_calls(move || match calls.fetch_add(1, Ordering::Relaxed) {
        0 => Answer::Status(503),
        _ => Answer::Usual,
    }));
    assert_eq!(bed.run(&[]).code, Some(0));
    let results = bed.results();
    assert_eq!(results.verdict(), "passed");
    assert_eq!(results.only()["attempts"], 2);
    assert_eq!(results["totals"]["serverFaults"]["count"], 1);
    assert_eq!(results["totals"]["serverFaults"]["n"], 2);
}

#[test]
fn a_server_that_fails_before_it_lists_its_tools_is_to_blame() {
    let bed = looking_up(|asked| match asked.method.as_str() {
        "tools/list" => Answer::Status(500),
        _ => Answer::Usual,
    });
    assert_eq!(bed.run(&[]).code, Some(3));
    assert_eq!(bed.results().verdict(), "invalid/server");
}

#[test]
fn a_server_that_wants_a_login_says_so_before_anything_runs() {
    let bed = looking_up(|_| Answer::Status(401));
    let ran = bed.run(&["-i", "20"]);
    assert_eq!(ran.code, Some(3));
    assert_eq!(ran.stderr.lines().count(), 1, "{}", ran.stderr);
    assert!(
        ran.stderr.contains("401") && ran.stderr.contains("mcp.headers"),
        "{}",
        ran.stderr
    );
    assert!(bed.asked().is_empty());
}

#[test]
fn a_login_that_ends_during_the_run_stops_it_with_one_message() {
    let bed = looking_up(well_at_first(|| Answer::Status(401)));
    let ran = bed.run(&["-i", "20"]);
    assert_eq!(ran.code, Some(3));
    assert_eq!(ran.stderr.lines().count(), 1, "{}", ran.stderr);
    assert!(
        ran.stderr.contains("answered 401") && ran.stderr.contains("mcp.headers"),
        "{}",
        ran.stderr
    );
    let results = bed.results();
    assert_eq!(results["run"]["state"], "aborted");
    assert!(results.total("notRun") >= 16);
}

#[test]
fn a_headers_value_reaches_the_server_and_not_the_agent() {
    let mut bed = looking_up(|asked| match asked.headers.get("x-tenant") {
        Some(value) if value == "0123" => Answer::Usual,
        _ => Answer::Status(500),
    });
    bed.config["mcp"]["headers"] = json!([{ "name": "X-Tenant", "value": "0123" }]);
    assert_eq!(bed.run(&[]).code, Some(0));
    assert_eq!(bed.results().verdict(), "passed");
}
