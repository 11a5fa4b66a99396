//! Runs whose outcomes were chosen. Records are written as JSON, as they are stored.

use mcproctor::compare::Results;
use mcproctor::record::{AttemptRecord, RunRecord, RunState};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

/// What becomes of the iterations of a cell, in this order.
#[derive(Clone, Copy, Default)]
pub(crate) struct Outcomes {
    pub(crate) passed: u32,
    pub(crate) wrong_tool: u32,
    pub(crate) never_called: u32,
    pub(crate) invalid: u32,
}

/// Passed and wrong tool.
pub(crate) fn of(passed: u32, wrong_tool: u32) -> Outcomes {
    Outcomes {
        passed,
        wrong_tool,
        ..Outcomes::default()
    }
}

/// A run that can be changed before it is used.
#[derive(Clone)]
pub(crate) struct Planted {
    pub(crate) record: Value,
    pub(crate) state: RunState,
    /// Per cell.
    pub(crate) outcomes: Vec<Outcomes>,
    /// The tool list that the server shows.
    pub(crate) tools: Value,
    pub(crate) server_version: &'static str,
    pub(crate) duration_ms: u64,
}

pub(crate) fn agent(name: &str, version: &str) -> Value {
    json!({
        "name": name, "kind": name, "model": "sonnet", "version": version, "sandbox": "process",
        "builtinTools": "none", "ownLogin": false,
    })
}

pub(crate) fn tools(description: &str) -> Value {
    json!([
        {"description": "Lists the cities.", "inputSchema": {"type": "object"}, "name": "list_cities"},
        {
            "description": description,
            "inputSchema": {"properties": {"city": {"type": "string"}}, "required": ["city"], "type": "object"},
            "name": "get_forecast",
        },
    ])
}

/// A completed run with a test case for each of `outcomes` (of one agent), all with the same number of iterations.
pub(crate) fn run(id: &str, outcomes: &[Outcomes]) -> Planted {
    let cases: Vec<Value> = (1..=outcomes.len())
        .map(|number| {
            json!({
                "name": format!("case {number}"), "file": format!("case-{number}.yaml"),
                "prompt": format!("Question {number}?"), "expectedTools": ["get_forecast"], "answers": [],
                "expectedOutcome": null,
            })
        })
        .collect();
    let total = |it: &Outcomes| it.passed + it.wrong_tool + it.never_called + it.invalid;
    Planted {
        record: json!({
            "id": id, "version": "0.1.0", "startedAtUnixMs": 1_793_862_000_000_i64, "configFile": "eval.yaml",
            "configSha256": "00", "servers": [{"name": "weather", "address": "http://127.0.0.1:3210/mcp"}],
            "agents": [agent("claude", "2.1.197")], "testCases": cases,
            "iterations": outcomes.first().map_or(0, total), "maxAttempts": 3, "seed": 7, "notices": [],
        }),
        state: RunState::Completed,
        outcomes: outcomes.to_vec(),
        tools: tools("Gets the weather."),
        server_version: "1.4.0",
        duration_ms: 2_400,
    }
}

impl Planted {
    pub(crate) fn record(&self) -> RunRecord {
        serde_json::from_value(self.record.clone()).unwrap()
    }

    /// The tool list as it is stored, and its hash.
    pub(crate) fn tool_list(&self) -> (String, Vec<u8>) {
        let json = serde_json::to_vec(&self.tools).unwrap();
        (hex::encode(Sha256::digest(&json)), json)
    }

    pub(crate) fn attempts(&self) -> Vec<AttemptRecord> {
        let mut attempts = Vec::new();
        let tools = self.tool_list().0;
        for (cell, outcomes) in self.outcomes.iter().enumerate() {
            let all = [
                (json!("passed"), outcomes.passed),
                (json!({"failed": "wrong_tool"}), outcomes.wrong_tool),
                (json!({"failed": "never_called"}), outcomes.never_called),
                (json!({"invalid": "server"}), outcomes.invalid),
            ];
            let each = all
                .iter()
                .flat_map(|(outcome, times)| std::iter::repeat_n(outcome, *times as usize));
            attempts.extend(
                (1..)
                    .zip(each)
                    .map(|(iteration, outcome)| self.attempt(cell, iteration, outcome, &tools)),
            );
        }
        attempts
    }

    fn attempt(&self, cell: usize, iteration: u32, outcome: &Value, tools: &str) -> AttemptRecord {
        serde_json::from_value(json!({
            "cell": cell, "iteration": iteration, "attempt": 1, "outcome": outcome, "reason": "", "last": true,
            "startedAtUnixMs": 1_793_862_000_000_i64, "durationMs": self.duration_ms + u64::from(iteration) * 10,
            "worker": "local", "sandbox": "process",
            "turns": [{
                "index": 0, "prompt": "", "reply": "", "ending": "completed", "detail": null, "startedAtUnixMs": 0,
                "durationMs": 1, "escapes": [], "warnings": [], "model": null, "reportedCalls": null,
                "modelRefusal": null,
                "usage": {"inputTokens": 1000, "outputTokens": 50, "cachedInputTokens": null, "costUsd": 0.01},
            }],
            "calls": [], "expectations": [],
            "exposures": [{
                "server": "weather", "initialized": true, "toolsListed": true, "toolCount": 2,
                "toolsSha256": tools, "serverName": "weather-server",
                "serverVersion": self.server_version, "protocolVersion": "2025-11-25", "faults": [],
                "loginRequired": false, "recordingFault": null,
            }],
            "traffic": {
                "observed": true, "requests": 1, "succeeded": 1, "waitingMs": 0, "refusal": null,
                "responseModel": "sonnet-20261015",
            },
            "evidence": [],
        }))
        .unwrap()
    }

    pub(crate) fn results(&self) -> Results {
        let mut results = Results::new(self.record(), self.state);
        for attempt in self.attempts() {
            results.add(&attempt);
        }
        results
    }
}

/// Two runs of eight test cases: the description of a tool was changed, and the agent updated, and it helped.
pub(crate) fn before_and_after() -> (Planted, Planted) {
    let before = run(
        "2026-11-05T07-00-00-aaaa",
        &[
            of(10, 0),
            of(9, 1),
            of(2, 8),
            of(6, 4),
            of(10, 0),
            of(8, 2),
            of(4, 6),
            of(7, 3),
        ],
    );
    let mut after = run(
        "2026-11-06T07-00-00-bbbb",
        &[
            of(10, 0),
            of(10, 0),
            of(10, 0),
            of(10, 0),
            of(10, 0),
            of(9, 1),
            of(9, 1),
            of(10, 0),
        ],
    );
    after.outcomes[5] = Outcomes {
        passed: 9,
        never_called: 1,
        ..Outcomes::default()
    };
    after.record["agents"] = json!([agent("claude", "2.1.301")]);
    after.record["startedAtUnixMs"] = json!(1_793_948_400_000_i64);
    after.record["testCases"][7]["prompt"] = json!("Another question 8?");
    after.tools = json!([
        {"description": "Call this first.", "inputSchema": {"type": "object"}, "name": "start_here"},
        {
            "description": "Gets the weather forecast of a city, in Celsius.",
            "inputSchema": {
                "properties": {"city": {"type": "string"}, "days": {"type": "integer"}}, "required": ["city", "days"],
                "type": "object",
            },
            "name": "get_forecast",
        },
    ]);
    after.server_version = "1.5.0";
    after.duration_ms = 2_000;
    (before, after)
}
