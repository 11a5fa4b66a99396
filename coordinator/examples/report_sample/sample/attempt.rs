//! What became of each attempt.

use mcproctor::outcome::{FailureClass, InvalidCause, Outcome};
use mcproctor::record::{AttemptRecord, ExpectationResult, Family, RunRecord, TestCaseRecord};
use mcproctor_proto::assignment::SandboxLevel;
use mcproctor_proto::call::CallState;
use mcproctor_proto::evidence::{EvidenceKind, EvidenceRef};
use mcproctor_proto::exposure::{Exposure, ServerFault};
use mcproctor_proto::traffic::ModelTraffic;

use super::plan::START;
use super::talk::{answer, call, failed_call, turns};
use super::tools::TOOLS_SHA256;

/// A small deterministic stand-in for chance, `0..100`.
pub(super) fn chance(cell: usize, iteration: u32, salt: u64) -> u64 {
    let mut x = (cell as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15)
        ^ u64::from(iteration).wrapping_mul(0xBF58_476D_1CE4_E5B9)
        ^ salt.wrapping_mul(0xD6E8_FEB8_6659_FD93);
    x ^= x >> 31;
    x = x.wrapping_mul(0x94D0_49BB_1331_11EB);
    x ^= x >> 29;
    x % 100
}

pub(super) fn iteration_of(run: &RunRecord, cell: usize, iteration: u32) -> Vec<AttemptRecord> {
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
            _ => Outcome::Failed(FailureClass::WrongTool),
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
                Outcome::Failed(FailureClass::WrongTool) if chance(cell, iteration, 4) < 60 => calls.push(failed_call(
                    started + 900,
                    tool,
                    &serde_json::json!({"city": "Atlantis"}),
                    CallState::ToolError,
                    "the result says isError",
                )),
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
        requests: Vec::new(),
        expectations: expectations(case, met),
        exposures: vec![Exposure {
            server: "weather".to_owned(),
            initialized: true,
            tools_listed: true,
            tool_count: 4,
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
            tools_sent: sent_names(run.agent_of(cell).map_or("", |agent| agent.kind.as_str())),
            response_model: run
                .agent_of(cell)
                .and_then(|agent| agent.model.clone())
                .map(|model| format!("{model}-20261015")),
            ..ModelTraffic::default()
        },
        cost_usd: None,
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

/// The tools as each kind of agent names them to its model.
fn sent_names(kind: &str) -> Vec<String> {
    let before = match kind {
        "claude" => "mcp__weather__",
        "codex" => "mcp__weather.",
        _ => "",
    };
    ["get_current_weather", "get_forecast", "list_cities", "list_warnings"]
        .map(|tool| format!("{before}{tool}"))
        .into()
}

fn expectations(case: &TestCaseRecord, met: bool) -> Vec<ExpectationResult> {
    let mut tools: Vec<&String> = case.expected_tools.iter().collect();
    tools.dedup();
    tools
        .into_iter()
        .map(|tool| {
            let times = case.expected_tools.iter().filter(|other| *other == tool).count();
            ExpectationResult {
                family: Family::Tools,
                what: format!(
                    "{tool}, at least {times} successful call{}",
                    if times == 1 { "" } else { "s" }
                ),
                tool: Some(tool.clone()),
                name: None,
                met,
                why: if met {
                    String::new()
                } else {
                    format!("{} of {times} succeeded", times - 1)
                },
                differences: Vec::new(),
                call: None,
                unchecked: false,
                broken: false,
            }
        })
        .collect()
}

fn reason(outcome: Outcome, case: &TestCaseRecord) -> String {
    match outcome {
        Outcome::Passed => "every expectation was met".to_owned(),
        Outcome::Failed(FailureClass::AgentError) => "exit status 1: the session could not be written".to_owned(),
        Outcome::Failed(FailureClass::RanOutOfTime) => "ran out of time after 300 s, 290 s of it its own".to_owned(),
        Outcome::Failed(_) => {
            let times = case.expected_tools.len();
            format!(
                "{}: {} of {times} expected calls succeeded",
                case.expected_tools[0],
                times - 1
            )
        }
        Outcome::Invalid(InvalidCause::Server) => format!("{}: the server answered 503", case.expected_tools[0]),
        Outcome::Invalid(InvalidCause::Model) => "the model answered 529 overloaded".to_owned(),
        Outcome::Invalid(_) => "the worker was lost".to_owned(),
        Outcome::Aborted => "the run was stopped".to_owned(),
    }
}
