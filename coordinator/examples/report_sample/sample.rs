//! An invented run of every colour, always the same for the same number of iterations.

use std::collections::HashMap;

use mcproctor::outcome::{FailureClass, InvalidCause, Outcome};
use mcproctor::record::{
    AgentRecord, AttemptRecord, ExpectationResult, RunRecord, RunState, ServerRecord, TestCaseRecord,
};
use mcproctor::report::MemoryRun;
use mcproctor_proto::assignment::SandboxLevel;
use mcproctor_proto::call::{CallState, ToolCall};
use mcproctor_proto::evidence::{EvidenceKind, EvidenceRef};
use mcproctor_proto::exposure::{Exposure, ServerFault};
use mcproctor_proto::id::RunId;
use mcproctor_proto::traffic::ModelTraffic;
use mcproctor_proto::turn::{Escape, EscapeKind, Turn, TurnEnding, Usage};
use serde_json::value::{RawValue, to_raw_value};

const START: i64 = 1_793_862_000_000;
const TOOLS_SHA256: &str = "9f1c0de4b7a2c55e1f3a6d7789aa0b4c6e2d1f00112233445566778899aabbcc";

/// Two agents, five test cases, every outcome.
pub(crate) fn mixed(iterations: u32) -> MemoryRun {
    let mut run = plan(iterations);
    run.agents = vec![
        agent("claude", "claude", Some("2.1.197"), Some("claude-sonnet-4-5"), false),
        agent("codex", "codex", Some("0.171.0"), Some("gpt-5.4"), true),
    ];
    run.notices = vec!["The judge block is not run in this version.".to_owned()];
    attempts_of(run)
}

/// One agent, three test cases.
#[allow(dead_code, reason = "each program that shares this file uses a part of it")]
pub(crate) fn one_agent(iterations: u32) -> MemoryRun {
    let mut run = plan(iterations);
    run.agents = vec![agent("demo", "command", None, Some("scripted"), false)];
    run.test_cases.truncate(3);
    attempts_of(run)
}

/// Takes the later half of the results away.
#[allow(dead_code, reason = "each program that shares this file uses a part of it")]
pub(crate) fn still_running(run: &mut MemoryRun) {
    run.state = RunState::Running;
    let half = run.run.iterations.div_ceil(2);
    run.attempts
        .retain(|attempt| attempt.iteration <= half && (attempt.cell < 7 || attempt.iteration <= half / 2));
    if let Some(newest) = run.attempts.last_mut() {
        newest.last = false;
        newest.outcome = Outcome::Invalid(InvalidCause::Server);
        newest.reason = "the server answered 503".to_owned();
    }
    run.now_unix_ms = START + 95_000;
}

fn plan(iterations: u32) -> RunRecord {
    let case = |name: &str, file: &str, prompt: &str, expected: &[&str], answers: &[&str]| TestCaseRecord {
        name: name.to_owned(),
        file: file.to_owned(),
        prompt: prompt.to_owned(),
        expected_tools: expected.iter().map(|tool| (*tool).to_owned()).collect(),
        answers: answers.iter().map(|answer| (*answer).to_owned()).collect(),
        expected_outcome: None,
    };
    let mut test_cases = vec![
        case(
            "current weather lookup",
            "current-weather.yaml",
            "What is the current weather in Vienna?",
            &["get_current_weather"],
            &[],
        ),
        case(
            "compare two forecasts",
            "compare-forecasts.yaml",
            "Will tomorrow be warmer in Graz or in Linz?\nSay by how many degrees.",
            &["get_forecast", "get_forecast"],
            &[],
        ),
        case(
            "list supported cities",
            "list-cities.yaml",
            "Which cities can you tell me about?",
            &["list_cities"],
            &[],
        ),
        case(
            "asks which units before answering",
            "units/ask-first.yaml",
            "How hot is it in Salzburg?",
            &["get_current_weather"],
            &["Celsius, no need to ask me again."],
        ),
        case(
            "a city that does not exist is not made up",
            "errors/unknown-city.yaml",
            "What is the weather in Atlantis?",
            &["get_current_weather"],
            &[],
        ),
    ];
    if let Some(last) = test_cases.last_mut() {
        last.expected_outcome = Some("Says that the city is not known and names cities that are.".to_owned());
    }
    RunRecord {
        id: RunId::new("2026-11-05T07-00-00-3fa9"),
        version: "0.1.0".to_owned(),
        started_at_unix_ms: START,
        config_file: "eval.yaml".to_owned(),
        config_sha256: "5d41402abc4b2a76b9719d911017c5925d41402abc4b2a76b9719d911017c592".to_owned(),
        servers: vec![ServerRecord {
            name: "weather".to_owned(),
            address: "http://127.0.0.1:3210/mcp".to_owned(),
        }],
        agents: Vec::new(),
        test_cases,
        iterations,
        max_attempts: 3,
        seed: 17_446_744_073_709_551_557,
        notices: Vec::new(),
    }
}

fn agent(name: &str, kind: &str, version: Option<&str>, model: Option<&str>, own_login: bool) -> AgentRecord {
    AgentRecord {
        name: name.to_owned(),
        kind: kind.to_owned(),
        model: model.map(str::to_owned),
        version: version.map(str::to_owned),
        sandbox: SandboxLevel::Process,
        builtin_tools: "none".to_owned(),
        own_login,
    }
}

fn attempts_of(run: RunRecord) -> MemoryRun {
    let mut attempts = Vec::new();
    let stderr = b"thread 'main' stopped: the session file is not writable\n".to_vec();
    for cell in 0..run.cells() {
        for iteration in 1..=run.iterations {
            attempts.extend(iteration_of(&run, cell, iteration));
        }
    }
    MemoryRun {
        run,
        state: RunState::Completed,
        attempts,
        evidence: HashMap::from([("stderr".to_owned(), stderr)]),
        now_unix_ms: START + 400_000,
    }
}

/// A small deterministic stand-in for chance, `0..100`.
fn chance(cell: usize, iteration: u32, salt: u64) -> u64 {
    let mut x = (cell as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15)
        ^ u64::from(iteration).wrapping_mul(0xBF58_476D_1CE4_E5B9)
        ^ salt.wrapping_mul(0xD6E8_FEB8_6659_FD93);
    x ^= x >> 31;
    x = x.wrapping_mul(0x94D0_49BB_1331_11EB);
    x ^= x >> 29;
    x % 100
}

fn iteration_of(run: &RunRecord, cell: usize, iteration: u32) -> Vec<AttemptRecord> {
    let cases = run.test_cases.len();
    let case = &run.test_cases[cell % cases];
    let dice = chance(cell, iteration, 1);
    let hard = [2, 35, 0, 20, 55][cell % cases] + if cell >= cases { 12 } else { 0 };
    let outcome = match dice {
        97.. => Outcome::Invalid(InvalidCause::Server),
        95.. => Outcome::Invalid(InvalidCause::Model),
        dice if dice >= 95 - hard => match chance(cell, iteration, 2) {
            0..8 => Outcome::Failed(FailureClass::AgentError),
            8..18 => Outcome::Failed(FailureClass::RanOutOfTime),
            _ => Outcome::Failed(FailureClass::ExpectationUnmet),
        },
        _ => Outcome::Passed,
    };
    let mut attempts = Vec::new();
    if matches!(outcome, Outcome::Invalid(_)) || chance(cell, iteration, 3) < 5 {
        let mut first = attempt(run, cell, iteration, 1, Outcome::Invalid(InvalidCause::Server));
        first.last = false;
        first.reason = format!("{}: the server answered 503", case.expected_tools[0]);
        attempts.push(first);
    }
    let number = attempts.len() as u32 + 1;
    attempts.push(attempt(run, cell, iteration, number, outcome));
    attempts
}

fn attempt(run: &RunRecord, cell: usize, iteration: u32, number: u32, outcome: Outcome) -> AttemptRecord {
    let case = &run.test_cases[cell % run.test_cases.len()];
    let started = START + i64::from(iteration) * 5_200 + cell as i64 * 700 + i64::from(number) * 4_000;
    let cities = ["Vienna", "Graz", "Linz", "Salzburg", "Innsbruck"];
    let mut calls = Vec::new();
    let met = outcome == Outcome::Passed;
    for (index, tool) in case.expected_tools.iter().enumerate() {
        if !met && index + 1 == case.expected_tools.len() {
            match outcome {
                Outcome::Failed(FailureClass::ExpectationUnmet) if chance(cell, iteration, 4) < 60 => {
                    calls.push(failed_call(
                        started + 900,
                        tool,
                        &serde_json::json!({"city": "Atlantis"}),
                        CallState::ToolError,
                        "the result says isError",
                    ))
                }
                Outcome::Invalid(InvalidCause::Server) => calls.push(failed_call(
                    started + 900,
                    tool,
                    &serde_json::json!({"city": cities[index % 5]}),
                    CallState::HttpError,
                    "the server answered 503",
                )),
                _ => {}
            }
            continue;
        }
        let city = cities[(iteration as usize + index) % 5];
        let arguments = match tool.as_str() {
            "list_cities" => serde_json::json!({}),
            "get_forecast" => serde_json::json!({"city": city, "days": 1, "stationId": 9_007_199_254_740_993_u64}),
            _ => serde_json::json!({"city": city, "units": "metric"}),
        };
        calls.push(call(
            started + 900 + index as i64 * 640,
            tool,
            &arguments,
            &answer(tool, city),
            38 + chance(cell, iteration, 9) * 3,
        ));
    }
    if chance(cell, iteration, 5) < 15 {
        calls.push(call(
            started + 300,
            "list_cities",
            &serde_json::json!({}),
            &answer("list_cities", ""),
            24,
        ));
        calls.sort_by_key(|call| call.started_at_unix_ms);
    }
    for (index, call) in calls.iter_mut().enumerate() {
        call.id = format!("c{}", index + 1);
    }
    let duration = 2_400 + chance(cell, iteration, 6) * 95 + if cell >= run.test_cases.len() { 1_800 } else { 0 };
    let turns = turns(case, outcome, started, duration, cell, iteration, &mut calls);
    AttemptRecord {
        cell: cell as u32,
        iteration,
        attempt: number,
        outcome,
        reason: reason(outcome, case),
        last: true,
        started_at_unix_ms: started,
        duration_ms: duration,
        worker: format!("local-{}", iteration % 2 + 1),
        sandbox: SandboxLevel::Process,
        turns,
        calls,
        expectations: expectations(case, met),
        exposures: vec![Exposure {
            server: "weather".to_owned(),
            initialized: true,
            tools_listed: true,
            tool_count: 3,
            tools_sha256: TOOLS_SHA256.to_owned(),
            server_name: Some("weather-server".to_owned()),
            server_version: Some("1.4.0".to_owned()),
            protocol_version: Some("2025-11-25".to_owned()),
            faults: if outcome == Outcome::Invalid(InvalidCause::Server) {
                vec![ServerFault {
                    what: "GET stream answered 503".to_owned(),
                    at_unix_ms: started + 1_000,
                }]
            } else {
                Vec::new()
            },
            login_required: false,
            recording_fault: None,
        }],
        traffic: ModelTraffic {
            observed: true,
            requests: 3,
            succeeded: 3,
            response_model: run
                .agent_of(cell)
                .and_then(|agent| agent.model.clone())
                .map(|model| format!("{model}-20261015")),
            ..ModelTraffic::default()
        },
        evidence: if outcome == Outcome::Failed(FailureClass::AgentError) {
            vec![EvidenceRef {
                kind: EvidenceKind::Stderr,
                sha256: "stderr".to_owned(),
                bytes: 56,
            }]
        } else {
            Vec::new()
        },
    }
}

fn turns(
    case: &TestCaseRecord,
    outcome: Outcome,
    started: i64,
    duration: u64,
    cell: usize,
    iteration: u32,
    calls: &mut [ToolCall],
) -> Vec<Turn> {
    let usage = Usage {
        input_tokens: Some(4_100 + chance(cell, iteration, 7) * 21),
        output_tokens: Some(160 + chance(cell, iteration, 8)),
        cached_input_tokens: Some(3_200),
        cost_usd: Some(0.006 + chance(cell, iteration, 7) as f64 / 50_000.0),
    };
    let turn = |index: u32, prompt: &str, reply: &str| Turn {
        index,
        prompt: prompt.to_owned(),
        reply: reply.to_owned(),
        ending: TurnEnding::Completed,
        detail: None,
        started_at_unix_ms: started,
        duration_ms: duration / 2,
        usage,
        escapes: Vec::new(),
        warnings: Vec::new(),
        model: None,
        reported_calls: None,
    };
    let reply = match outcome {
        Outcome::Passed => {
            "It is 21 °C and partly cloudy, with a light breeze from the west.\n\n- felt temperature: 20 °C\n- humidity: 48 %"
        }
        Outcome::Failed(FailureClass::ExpectationUnmet) => {
            "I could not look that up, but it is usually mild at this time of the year."
        }
        _ => "",
    };
    let mut turns = vec![turn(0, &case.prompt, reply)];
    if let Some(answer) = case.answers.first()
        && chance(cell, iteration, 11) < 70
    {
        turns[0].reply = "Would you like that in Celsius or in Fahrenheit?".to_owned();
        turns.push(turn(1, answer, reply));
        for call in calls.iter_mut() {
            call.turn = 1;
        }
    }
    let Some(last) = turns.last_mut() else { return turns };
    match outcome {
        Outcome::Failed(FailureClass::AgentError) => {
            last.ending = TurnEnding::AgentError;
            last.detail = Some("exit status 1: the session could not be written".to_owned());
        }
        Outcome::Failed(FailureClass::RanOutOfTime) => {
            last.ending = TurnEnding::TimedOut;
            last.detail = Some("its 300 s were up; the process tree was killed".to_owned());
        }
        _ => {}
    }
    if chance(cell, iteration, 12) < 8 && cell >= 5 {
        last.escapes.push(Escape {
            kind: EscapeKind::Shell,
            what: "curl -s 'https://wttr.example/Vienna?format=j1' | jq .current_condition".to_owned(),
            turn: last.index,
        });
        last.warnings
            .push("the agent's own stream reports 1 call more than the wire".to_owned());
    }
    turns
}

fn expectations(case: &TestCaseRecord, met: bool) -> Vec<ExpectationResult> {
    let mut tools: Vec<&String> = case.expected_tools.iter().collect();
    tools.dedup();
    tools
        .into_iter()
        .map(|tool| {
            let times = case.expected_tools.iter().filter(|other| *other == tool).count();
            ExpectationResult {
                what: format!(
                    "{tool}, at least {times} successful call{}",
                    if times == 1 { "" } else { "s" }
                ),
                tool: Some(tool.clone()),
                met,
                why: if met {
                    String::new()
                } else {
                    format!("{} of {times} succeeded", times - 1)
                },
            }
        })
        .collect()
}

fn reason(outcome: Outcome, case: &TestCaseRecord) -> String {
    match outcome {
        Outcome::Passed => "every expectation was met".to_owned(),
        Outcome::Failed(FailureClass::ExpectationUnmet) => {
            let times = case.expected_tools.len();
            format!(
                "{}: {} of {times} expected calls succeeded",
                case.expected_tools[0],
                times - 1
            )
        }
        Outcome::Failed(FailureClass::AgentError) => "exit status 1: the session could not be written".to_owned(),
        Outcome::Failed(FailureClass::RanOutOfTime) => "ran out of time after 300 s, 290 s of it its own".to_owned(),
        Outcome::Invalid(InvalidCause::Server) => format!("{}: the server answered 503", case.expected_tools[0]),
        Outcome::Invalid(InvalidCause::Model) => "the model answered 529 overloaded".to_owned(),
        Outcome::Invalid(_) => "the worker was lost".to_owned(),
        Outcome::Aborted => "the run was stopped".to_owned(),
    }
}

fn answer(tool: &str, city: &str) -> serde_json::Value {
    let text = match tool {
        "list_cities" => "Vienna, Graz, Linz, Salzburg, Innsbruck".to_owned(),
        "get_forecast" => {
            format!("{{\"city\": \"{city}\", \"days\": [{{\"date\": \"2026-11-06\", \"high\": 12.5, \"low\": 4}}]}}")
        }
        _ => format!("{city}: 21 °C, partly cloudy, wind 7 km/h W"),
    };
    serde_json::json!({"content": [{"type": "text", "text": text}]})
}

fn raw(value: &serde_json::Value) -> Option<Box<RawValue>> {
    to_raw_value(value).ok()
}

/// A call that was answered.
pub(crate) fn call(
    started: i64,
    tool: &str,
    arguments: &serde_json::Value,
    result: &serde_json::Value,
    duration_ms: u64,
) -> ToolCall {
    ToolCall {
        id: String::new(),
        server: "weather".to_owned(),
        tool: tool.to_owned(),
        arguments: raw(arguments),
        state: CallState::Ok,
        result: raw(result),
        error: None,
        started_at_unix_ms: started,
        duration_ms,
        bytes: result.to_string().len() as u64 + 36,
        sha256: TOOLS_SHA256.to_owned(),
        truncated: false,
        legs: 1,
        turn: 0,
        http_status: Some(200),
    }
}

/// A call that was not.
pub(crate) fn failed_call(
    started: i64,
    tool: &str,
    arguments: &serde_json::Value,
    state: CallState,
    error: &str,
) -> ToolCall {
    let result =
        serde_json::json!({"content": [{"type": "text", "text": "unknown city \"Atlantis\""}], "isError": true});
    let mut failed = call(started, tool, arguments, &result, 61);
    failed.state = state;
    failed.error = Some(error.to_owned());
    if state == CallState::HttpError {
        failed.result = None;
        failed.http_status = Some(503);
        failed.sha256 = String::new();
        failed.bytes = 0;
    }
    failed
}
