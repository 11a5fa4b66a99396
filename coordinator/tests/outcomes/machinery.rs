//! What is the machinery's, and agents that never came to the server.

use serde_json::json;

use crate::bed;
use crate::support::{Answer, Bed, end};

#[test]
fn an_agent_that_never_connects_has_proven_nothing() {
    let mut bed = bed();
    let deaf = bed.command("deaf", "sh", &["-c", "echo 'It is sunny.'"]);
    bed.agents(&[deaf]);
    assert_eq!(bed.run(&[]).code, Some(3));
    let results = bed.results();
    assert_eq!(results.verdict(), "invalid/exposure");
    assert_eq!(results.only()["attempts"], 2);
    assert!(
        results.reason().contains("never connected to mcp-under-test"),
        "{}",
        results.reason()
    );
}

#[test]
fn nothing_expected_is_not_met_by_an_agent_that_never_connects() {
    let mut bed = bed();
    bed.case("weather", "The weather?", &[]);
    let deaf = bed.command("deaf", "sh", &["-c", "echo 'It is sunny.'"]);
    bed.agents(&[deaf]);
    assert_eq!(bed.run(&[]).code, Some(3));
    assert_eq!(bed.results().verdict(), "invalid/exposure");
}

#[test]
fn an_agent_that_crashes_before_it_connects_says_why() {
    let mut bed = bed();
    let broken = bed.command("broken", "sh", &["-c", "echo 'no licence' >&2; exit 7"]);
    bed.agents(&[broken]);
    assert_eq!(bed.run(&[]).code, Some(3));
    let results = bed.results();
    assert_eq!(results.verdict(), "invalid/exposure");
    assert!(
        results.reason().contains("exit code 7: no licence"),
        "{}",
        results.reason()
    );
}

#[test]
fn an_agent_that_connects_but_never_asks_for_the_tools_has_proven_nothing() {
    const CONNECTS: &str = r#"
import json, sys, urllib.request
body = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": "2025-06-18",
        "capabilities": {}, "clientInfo": {"name": "connects", "version": "1"}}}
headers = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
request = urllib.request.Request(sys.argv[1], json.dumps(body).encode(), headers)
urllib.request.urlopen(request).read()
print("connected")
"#;
    let mut bed = bed();
    bed.serve(|_| Answer::Usual);
    let agent = bed.command("connects", "python3", &["-c", CONNECTS, "{mcp_url}"]);
    bed.agents(&[agent]);
    assert_eq!(bed.run(&[]).code, Some(3));
    let results = bed.results();
    assert_eq!(results.verdict(), "invalid/exposure");
    assert!(
        results.reason().contains("never listed the tools"),
        "{}",
        results.reason()
    );
}

#[test]
fn an_answer_that_is_cut_is_not_judged() {
    let mut bed = bed();
    let cut = bed.around_builtin("\"$@\" > /dev/null; printf '{\"answer\": \"It is sun'");
    bed.agents(&[cut]);
    assert_eq!(bed.run(&[]).code, Some(3));
    let results = bed.results();
    assert_eq!(results.verdict(), "invalid/machinery");
    assert_eq!(results.only()["attempts"], 2);
    assert_eq!(results.only()["turns"][0]["ending"], "unreadable");
}

#[test]
fn a_lost_worker_is_replaced_and_its_attempts_are_repeated() {
    let bed = Bed::new(
        "
scenarios:
  - when: weather
    steps:
      - {call: {tool: get_current_weather, arguments: {city: Vienna}}, delayMs: 700}
      - answer: Sunny.
",
    );
    bed.case("weather", "The weather?", &["get_current_weather"]);
    let mut running = bed.start(&["-i", "4", "--output", "json"]);
    running.wait_for("attempt", |out| out.matches("\"attempt_started\"").count() >= 2);
    let workers = running.workers();
    assert_eq!(workers.len(), 1, "{workers:?}");
    workers.iter().for_each(end);
    let ran = running.wait();
    assert_eq!(ran.code, Some(0));
    let results = bed.results();
    assert_eq!(results.verdicts(), ["passed"; 4]);
    let lost = |iteration: &&serde_json::Value| iteration["earlierAttempts"][0]["cause"] == json!("machinery");
    assert_eq!(results.iterations().iter().filter(lost).count(), 2);
    bed.wait_until_nothing_runs();
    // Nothing of a killed worker stays behind.
    let left: Vec<_> = std::fs::read_dir(bed.path("cache/mcproctor/sandboxes"))
        .unwrap()
        .flatten()
        .map(|entry| entry.path())
        .collect();
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn a_worker_that_cannot_be_kept_alive_ends_the_run_with_a_message() {
    let bed = bed();
    let cache = bed.path("cache");
    std::fs::create_dir_all(&cache).unwrap();
    // A file where the sandboxes' folder has to be.
    std::fs::write(cache.join("mcproctor"), "").unwrap();
    let ran = bed.run(&[]);
    assert_eq!(ran.code, Some(3));
    assert!(
        ran.stderr.contains("no worker can be kept alive") && ran.stderr.contains("worker-1.log"),
        "{}",
        ran.stderr
    );
}
