//! The shapes that a sample run can have.

use std::collections::HashMap;

use mcproctor::outcome::{FailureClass, InvalidCause, Outcome};
use mcproctor::record::{AttemptRecord, Difference, ExpectationResult, Family, RunRecord, RunState};
use mcproctor::report::MemoryRun;
use mcproctor_proto::call::CallState;
use mcproctor_proto::evidence::{EvidenceKind, EvidenceRef};
use mcproctor_proto::exposure::ServerFault;
use mcproctor_proto::turn::{Escape, EscapeKind, TurnEnding};

use super::attempt::iteration_of;
use super::plan::{START, agent, plan};
use super::talk::{call, failed_call};
use super::tools::{TOOL_LIST, TOOLS_SHA256};

/// Two agents, five test cases, every outcome.
pub(crate) fn mixed(iterations: u32) -> MemoryRun {
    let mut run = plan(iterations);
    run.agents = vec![
        agent("claude", "claude", Some("2.1.197"), Some("claude-sonnet-4-5"), false),
        agent("codex", "codex", Some("0.171.0"), Some("gpt-5.4"), true),
    ];
    run.notices = vec!["The model is scripted: these rates say nothing about any real one.".to_owned()];
    attempts_of(run)
}

/// One agent, three test cases.
pub(crate) fn one_agent(iterations: u32) -> MemoryRun {
    let mut run = plan(iterations);
    run.agents = vec![agent("demo", "command", None, Some("scripted"), false)];
    run.test_cases.truncate(3);
    attempts_of(run)
}

/// Takes the later half of the results away.
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

/// One agent whose every text, from the server's name to the smallest error, is `words`.
pub(crate) fn hostile(words: &str) -> MemoryRun {
    let mut run = one_agent(2);
    let said = || words.to_owned();
    run.run.config_file = said();
    run.run.notices = vec![said()];
    run.run.servers[0].name = said();
    run.run.servers[0].address = said();
    run.run.agents[0].name = said();
    run.run.agents[0].kind = said();
    run.run.agents[0].model = Some(said());
    run.run.agents[0].version = Some(said());
    for case in &mut run.run.test_cases {
        (case.name, case.file, case.prompt) = (said(), said(), said());
        (case.expected_tools, case.answers, case.expected_outcome) = (vec![said()], vec![said()], Some(said()));
    }
    // The first test case is called as it should be, the second needs no call, the third expects another tool.
    run.run.test_cases[1].expected_tools.clear();
    run.run.test_cases[2].expected_tools.push(format!("{words} too"));
    let mut lost = run.attempts[0].clone();
    (lost.attempt, lost.last) = (0, false);
    run.attempts.push(lost);
    for attempt in &mut run.attempts {
        attempt.outcome = if attempt.last {
            Outcome::Failed(FailureClass::AgentError)
        } else {
            Outcome::Invalid(InvalidCause::Server)
        };
        (attempt.reason, attempt.worker) = (said(), said());
        let arguments = serde_json::json!({ words: words });
        let result = serde_json::json!({"content": [{"type": "text", "text": words}]});
        attempt.calls = vec![
            call(attempt.started_at_unix_ms, words, &arguments, &result, 5),
            failed_call(
                attempt.started_at_unix_ms,
                words,
                &arguments,
                CallState::ToolError,
                words,
            ),
        ];
        for call in &mut attempt.calls {
            (call.id, call.server, call.sha256) = (said(), said(), said());
        }
        for turn in &mut attempt.turns {
            (turn.prompt, turn.reply, turn.detail, turn.model) = (said(), said(), Some(said()), Some(said()));
            (turn.ending, turn.warnings) = (TurnEnding::AgentError, vec![said()]);
            turn.escapes = vec![Escape {
                kind: EscapeKind::OtherTool,
                what: said(),
                turn: 0,
            }];
        }
        attempt.expectations = vec![ExpectationResult {
            what: said(),
            tool: Some(said()),
            name: Some(said()),
            met: false,
            why: said(),
            family: Family::Arguments,
            differences: vec![
                Difference {
                    at: said(),
                    expected: said(),
                    found: said(),
                };
                2
            ],
            call: Some(said()),
            unchecked: false,
            broken: false,
        }];
        if attempt.cell == 1 {
            attempt.expectations[0].family = Family::Response;
        }
        for exposure in &mut attempt.exposures {
            (exposure.server, exposure.tools_sha256) = (said(), said());
            (exposure.server_name, exposure.server_version) = (Some(said()), Some(said()));
            (exposure.protocol_version, exposure.recording_fault) = (Some(said()), Some(said()));
            exposure.faults = vec![ServerFault {
                what: said(),
                at_unix_ms: START,
            }];
        }
        let mut listed = attempt.exposures[0].clone();
        listed.tools_sha256 = TOOLS_SHA256.to_owned();
        attempt.exposures.push(listed);
        attempt.traffic.response_model = Some(said());
        attempt.evidence = vec![EvidenceRef {
            kind: EvidenceKind::Stderr,
            sha256: "stderr".to_owned(),
            bytes: 1,
        }];
    }
    run.evidence.insert("stderr".to_owned(), words.as_bytes().to_vec());
    let list = serde_json::json!([{"name": words, "description": words, "inputSchema": {
        "type": "object", "additionalProperties": false, "required": [format!("{words} missing")],
    }}]);
    run.evidence
        .insert(TOOLS_SHA256.to_owned(), list.to_string().into_bytes());
    run
}

/// The plan of [`mixed`] without its attempts, and where they come from: for runs that no memory holds.
pub(crate) fn plan_of_mixed(iterations: u32) -> RunRecord {
    let mut run = mixed(1).run;
    run.iterations = iterations;
    run
}

/// The attempts of one iteration of a planned run.
pub(crate) fn attempts(run: &RunRecord, cell: usize, iteration: u32) -> Vec<AttemptRecord> {
    iteration_of(run, cell, iteration)
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
        evidence: HashMap::from([
            ("stderr".to_owned(), stderr),
            (TOOLS_SHA256.to_owned(), TOOL_LIST.as_bytes().to_vec()),
        ]),
        now_unix_ms: START + 400_000,
    }
}
