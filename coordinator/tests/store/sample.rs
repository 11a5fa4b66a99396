//! Small records that the tests vary.

use mcproctor::outcome::Outcome;
use mcproctor::record::{AgentRecord, AnswerChoice, AttemptRecord, RunRecord, ServerRecord, TestCaseRecord};
use mcproctor::store::Store;
use mcproctor_proto::assignment::SandboxLevel;
use mcproctor_proto::call::{CallState, ToolCall};
use mcproctor_proto::evidence::{EvidenceKind, EvidenceRef};
use mcproctor_proto::id::RunId;
use mcproctor_proto::traffic::ModelTraffic;
use mcproctor_proto::turn::{Turn, TurnEnding, Usage};
use serde_json::value::RawValue;
use sha2::{Digest, Sha256};

/// A run of two agents and two test cases.
pub(crate) fn run(id: &str, started_at_unix_ms: i64) -> RunRecord {
    let agent = |name: &str| AgentRecord {
        name: name.to_owned(),
        kind: name.to_owned(),
        model: None,
        version: None,
        sandbox: SandboxLevel::Process,
        image: None,
        builtin_tools: "none".to_owned(),
        tool_loading: None,
        own_login: false,
        price: None,
    };
    let case = |name: &str| TestCaseRecord {
        name: name.to_owned(),
        file: format!("{name}.yaml"),
        prompt: "How is the weather?".to_owned(),
        expected_tools: vec!["get_forecast".to_owned()],
        expectations: Default::default(),
        answers: Vec::new(),
        expected_outcome: None,
        answer_choice: AnswerChoice::InOrder,
        tone: None,
    };
    RunRecord {
        id: RunId::new(id),
        version: "0.1.0".to_owned(),
        started_at_unix_ms,
        config_file: "./eval.yaml".to_owned(),
        config_sha256: sha256(b"config"),
        servers: vec![ServerRecord {
            name: "weather".to_owned(),
            address: "http://127.0.0.1:1/mcp".to_owned(),
        }],
        agents: vec![agent("claude"), agent("codex")],
        test_cases: vec![case("forecast"), case("cities")],
        iterations: 100,
        max_attempts: 3,
        seed: 7,
        notices: Vec::new(),
        thresholds: Default::default(),
        judge: None,
        graded_from: None,
        stopped: None,
    }
}

/// An attempt that is its iteration's result.
pub(crate) fn attempt(cell: u32, iteration: u32, attempt: u32, outcome: Outcome) -> AttemptRecord {
    AttemptRecord {
        cell,
        iteration,
        attempt,
        outcome,
        reason: String::new(),
        last: true,
        started_at_unix_ms: 1_700_000_000_000,
        duration_ms: 1_500,
        worker: "local".to_owned(),
        sandbox: SandboxLevel::Process,
        turns: vec![Turn {
            index: 0,
            prompt: "How is the weather?".to_owned(),
            reply: "Sunny — 21 °C".to_owned(),
            ending: TurnEnding::Completed,
            detail: None,
            started_at_unix_ms: 1_700_000_000_000,
            duration_ms: 1_400,
            usage: Usage {
                input_tokens: Some(100),
                output_tokens: Some(10),
                cached_input_tokens: None,
                cost_usd: Some(0.25),
            },
            escapes: Vec::new(),
            warnings: Vec::new(),
            model: None,
            reported_calls: Some(1),
            model_refusal: None,
        }],
        calls: vec![ToolCall {
            id: format!("c{iteration}"),
            server: "weather".to_owned(),
            tool: "get_forecast".to_owned(),
            arguments: Some(RawValue::from_string(r#"{"days": 3.0,  "city":"Graz"}"#.to_owned()).unwrap()),
            state: CallState::Ok,
            result: None,
            error: None,
            started_at_unix_ms: 1_700_000_000_100,
            duration_ms: 3,
            bytes: 0,
            sha256: String::new(),
            truncated: false,
            legs: 1,
            turn: 0,
            http_status: Some(200),
        }],
        requests: Vec::new(),
        expectations: Vec::new(),
        exposures: Vec::new(),
        traffic: ModelTraffic::default(),
        cost_usd: None,
        evidence: Vec::new(),
    }
}

/// An attempt after which another one follows.
pub(crate) fn not_last(record: AttemptRecord) -> AttemptRecord {
    AttemptRecord { last: false, ..record }
}

pub(crate) fn sha256(bytes: &[u8]) -> String {
    hex::encode(Sha256::digest(bytes))
}

/// Stores `bytes` and says how to refer to them.
pub(crate) async fn put(store: &Store, kind: EvidenceKind, bytes: &[u8]) -> EvidenceRef {
    let sha256 = sha256(bytes);
    let size = store.put_evidence(kind, &sha256, bytes.to_vec()).await.unwrap();
    assert_eq!(size, bytes.len() as u64);
    EvidenceRef {
        kind,
        sha256,
        bytes: size,
    }
}

/// Bytes that do not compress, the same for the same seed.
pub(crate) fn noise(seed: u64, length: usize) -> Vec<u8> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    let mut bytes: Vec<u8> = (0..length.div_ceil(8)).flat_map(|_| next().to_le_bytes()).collect();
    bytes.truncate(length);
    bytes
}
