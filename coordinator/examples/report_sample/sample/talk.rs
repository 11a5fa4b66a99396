//! What was said and called.

use mcproctor::outcome::{FailureClass, Outcome};
use mcproctor::record::TestCaseRecord;
use mcproctor_proto::call::{CallState, ToolCall};
use mcproctor_proto::turn::{Escape, EscapeKind, Turn, TurnEnding, Usage};
use serde_json::value::{RawValue, to_raw_value};

use super::attempt::chance;
use super::tools::TOOLS_SHA256;

pub(super) fn turns(
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
        model_refusal: None,
    };
    let reply = match outcome {
        Outcome::Passed => {
            "It is 21 °C and partly cloudy, with a light breeze from the west.\n\n- felt temperature: 20 °C\n- humidity: 48 %"
        }
        Outcome::Failed(FailureClass::WrongTool) => {
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

pub(super) fn answer(tool: &str, city: &str) -> serde_json::Value {
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
