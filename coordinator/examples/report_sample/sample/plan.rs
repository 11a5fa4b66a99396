//! What was planned.

use mcproctor::record::{AgentRecord, AnswerChoice, RunRecord, ServerRecord, TestCaseRecord};
use mcproctor_proto::assignment::SandboxLevel;
use mcproctor_proto::id::RunId;

/// When the run began, in milliseconds of Unix time.
pub(super) const START: i64 = 1_793_862_000_000;

pub(super) fn plan(iterations: u32) -> RunRecord {
    let case = |name: &str, file: &str, prompt: &str, expected: &[&str], answers: &[&str]| TestCaseRecord {
        name: name.to_owned(),
        file: file.to_owned(),
        prompt: prompt.to_owned(),
        expected_tools: expected.iter().map(|tool| (*tool).to_owned()).collect(),
        expectations: Default::default(),
        answers: answers.iter().map(|answer| (*answer).to_owned()).collect(),
        expected_outcome: None,
        answer_choice: AnswerChoice::InOrder,
        tone: None,
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
        thresholds: Default::default(),
        judge: None,
        graded_from: None,
        stopped: None,
    }
}

pub(super) fn agent(
    name: &str,
    kind: &str,
    version: Option<&str>,
    model: Option<&str>,
    own_login: bool,
) -> AgentRecord {
    AgentRecord {
        name: name.to_owned(),
        kind: kind.to_owned(),
        model: model.map(str::to_owned),
        version: version.map(str::to_owned),
        sandbox: SandboxLevel::Process,
        image: None,
        builtin_tools: "none".to_owned(),
        tool_loading: None,
        own_login,
        price: None,
    }
}
