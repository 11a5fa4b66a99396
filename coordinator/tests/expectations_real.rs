//! Slow: every kind of expectation through real agents, against a model that plays scenarios.
//!
//! They are installed by `npm ci --prefix docker/agents`; `MCPROCTOR_CLAUDE` and `MCPROCTOR_CODEX` name others.
#![allow(
    dead_code,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test may fail by panicking, and the table is for other tests too"
)]

mod support;
#[path = "expectations/table.rs"]
mod table;

use serde_json::{Value, json};

use support::{Answer, Bed};
use table::{COST, ROWS, Row, SCENARIOS, TOKENS, compare};

/// How many rows one run has, so that it ends in time on a busy machine.
const AT_ONCE: usize = 16;

/// Runs every row with the agent that `agent` gives.
fn every_kind(agent: impl Fn(&mut Bed) -> Value, rows: &[&Row]) {
    for rows in rows.chunks(AT_ONCE) {
        let mut bed = Bed::new(SCENARIOS);
        let agent = agent(&mut bed);
        bed.agents(&[agent]);
        bed.config["run"]["timeoutSeconds"] = json!(120);
        rows.iter().for_each(|row| row.write(&bed));
        assert_eq!(bed.run(&[]).code, Some(0));
        compare(&bed.results(), rows);
        bed.wait_until_nothing_runs();
    }
}

#[test]
fn slow_claude_meets_and_misses_every_kind_of_expectation() {
    let rows: Vec<&Row> = ROWS.iter().chain(TOKENS).chain(COST).collect();
    every_kind(Bed::claude, &rows);
}

#[test]
fn slow_codex_meets_and_misses_every_kind_of_expectation_that_it_reports_on() {
    let rows: Vec<&Row> = ROWS.iter().chain(TOKENS).collect();
    every_kind(Bed::codex, &rows);
}

#[test]
fn slow_what_codex_cannot_report_and_nobody_can_price_is_refused_before_the_run() {
    let mut bed = Bed::new(SCENARIOS);
    let mut agent = bed.codex();
    agent["model"] = serde_json::json!("gpt-of-nobody");
    bed.agents(&[agent]);
    COST[0].write(&bed);
    let ran = bed.run(&[]);
    assert_eq!(ran.code, Some(2));
    assert!(
        ran.stderr
            .contains("(codex) does not report its cost, and the price of gpt-of-nobody is not known"),
        "{}",
        ran.stderr
    );
}

#[test]
fn slow_codex_reads_a_resource_that_is_expected() {
    let uri = "notes://today";
    let mut bed = Bed::new(
        "scenarios:
  - when: today
    steps:
      - call: {tool: read_mcp_resource, arguments: {server: mcp-under-test, uri: 'notes://today'}}
      - answer: Noted.
  - when: tomorrow
    steps: [{answer: No notes.}]
",
    );
    bed.serve(move |asked| match asked.method.as_str() {
        "resources/read" => Answer::Result(json!({ "contents": [{ "uri": uri, "text": "Buy bread." }] })),
        _ => Answer::Usual,
    });
    let agent = bed.codex();
    bed.agents(&[agent]);
    for name in ["today", "tomorrow"] {
        let case = json!({
            "name": name, "prompt": format!("The notes of {name}?"), "expectedTools": [], "expectedResources": [uri],
        });
        std::fs::write(bed.path(&format!("testcases/{name}.yaml")), case.to_string()).unwrap();
    }
    let ran = bed.run(&[]);
    assert_eq!(ran.code, Some(0), "{}{}", ran.stdout, ran.stderr);
    assert_eq!(bed.results().verdicts(), ["passed", "failed/never_called"]);
}

#[test]
fn slow_claude_fetches_a_prompt_that_is_expected() {
    let mut bed = Bed::new("scenarios: [{when: '', steps: [{answer: Good morning.}]}]");
    bed.serve(|asked| match asked.method.as_str() {
        "initialize" => Answer::Result(json!({
            "protocolVersion": asked.params["protocolVersion"],
            "capabilities": { "tools": {}, "prompts": {} },
            "serverInfo": { "name": "greeter", "version": "1" },
        })),
        "prompts/list" => Answer::Result(json!({ "prompts": [{ "name": "greet" }] })),
        "prompts/get" => Answer::Result(json!({
            "messages": [{ "role": "user", "content": { "type": "text", "text": "Greet me." } }],
        })),
        _ => Answer::Usual,
    });
    let agent = bed.claude();
    bed.agents(&[agent]);
    for (name, prompt) in [
        ("by its name", "/mcp__mcp-under-test__greet"),
        ("in words", "Greet me."),
    ] {
        let case = json!({ "name": name, "prompt": prompt, "expectedTools": [], "expectedPrompts": ["greet"] });
        std::fs::write(bed.path(&format!("testcases/{name}.yaml")), case.to_string()).unwrap();
    }
    let ran = bed.run(&[]);
    assert_eq!(ran.code, Some(0), "{}{}", ran.stdout, ran.stderr);
    assert_eq!(bed.results().verdicts(), ["passed", "failed/never_called"]);
}
