//! One iteration.

use std::borrow::Cow;

use mcproctor_proto::call::{CallState, ToolCall};
use mcproctor_proto::evidence::EvidenceRef;
use mcproctor_proto::exposure::Exposure;
use mcproctor_proto::traffic::ModelTraffic;
use mcproctor_proto::turn::{EscapeKind, Turn, TurnEnding, Usage};
use serde::Serialize;
use serde_json::value::RawValue;

use crate::outcome::Outcome;
use crate::record::{ExpectationResult, RunRecord};
use crate::report::text::cut;
use crate::report::{EarlierAttempt, Iteration};

use super::judge::JudgementView;
use super::readable::Readable;

/// Prompts and replies are cut here.
const MOST_TEXT_BYTES: usize = 256 * 1024;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct IterationView<'a> {
    cell: usize,
    agent: &'a str,
    test_case: &'a str,
    file: &'a str,
    iteration: u32,
    #[serde(flatten)]
    verdict: VerdictView,
    reason: &'a str,
    attempts: usize,
    earlier_attempts: Vec<EarlierView<'a>>,
    #[serde(flatten)]
    result: Option<ResultView<'a>>,
}

/// Outcome with its class or cause; all three `null` while a new attempt is due.
#[derive(Serialize)]
struct VerdictView {
    outcome: Option<&'static str>,
    class: Option<&'static str>,
    cause: Option<&'static str>,
}

impl VerdictView {
    fn of(outcome: Option<Outcome>) -> Self {
        Self {
            outcome: outcome.map(Outcome::name),
            class: match outcome {
                Some(Outcome::Failed(class)) => Some(class.name()),
                _ => None,
            },
            cause: match outcome {
                Some(Outcome::Invalid(cause)) => Some(cause.name()),
                _ => None,
            },
        }
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct EarlierView<'a> {
    attempt: u32,
    #[serde(flatten)]
    verdict: VerdictView,
    reason: &'a str,
    started_at_unix_ms: i64,
    duration_ms: u64,
    worker: &'a str,
    usage: Usage,
}

impl<'a> EarlierView<'a> {
    fn of(earlier: &'a EarlierAttempt) -> Self {
        Self {
            attempt: earlier.attempt,
            verdict: VerdictView::of(Some(earlier.outcome)),
            reason: &earlier.reason,
            started_at_unix_ms: earlier.started_at_unix_ms,
            duration_ms: earlier.duration_ms,
            worker: &earlier.worker,
            usage: earlier.usage,
        }
    }
}

/// What only an iteration with a result has.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ResultView<'a> {
    started_at_unix_ms: i64,
    duration_ms: u64,
    worker: &'a str,
    sandbox: &'static str,
    usage: Usage,
    turns: Vec<TurnView<'a>>,
    calls: Vec<CallView<'a>>,
    expectations: &'a [ExpectationResult],
    escapes: Vec<EscapeView<'a>>,
    exposures: &'a [Exposure],
    traffic: &'a ModelTraffic,
    evidence: &'a [EvidenceRef],
    /// `null` when the judge said nothing.
    judge: Option<JudgementView<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct TurnView<'a> {
    index: u32,
    prompt: Cow<'a, str>,
    reply: Cow<'a, str>,
    ending: TurnEnding,
    detail: Option<&'a str>,
    started_at_unix_ms: i64,
    duration_ms: u64,
    usage: Usage,
    warnings: &'a [String],
    model: Option<&'a str>,
    reported_calls: Option<u32>,
}

#[derive(Serialize)]
struct EscapeView<'a> {
    turn: u32,
    kind: EscapeKind,
    what: &'a str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct CallView<'a> {
    id: &'a str,
    server: &'a str,
    tool: &'a str,
    turn: u32,
    arguments: Option<Cow<'a, RawValue>>,
    state: CallState,
    result: Option<Cow<'a, RawValue>>,
    error: Option<&'a str>,
    started_at_unix_ms: i64,
    duration_ms: u64,
    bytes: u64,
    sha256: Option<&'a str>,
    truncated: bool,
    legs: u32,
    http_status: Option<u16>,
}

impl<'a> IterationView<'a> {
    pub(super) fn of(run: &'a RunRecord, iteration: &'a Iteration) -> Self {
        let case = run.test_case_of(iteration.cell);
        let result = iteration.result.as_ref();
        Self {
            cell: iteration.cell,
            agent: run.agent_of(iteration.cell).map_or("", |agent| agent.name.as_str()),
            test_case: case.map_or("", |case| case.name.as_str()),
            file: case.map_or("", |case| case.file.as_str()),
            iteration: iteration.number,
            verdict: VerdictView::of(result.map(|result| result.outcome)),
            reason: result.map_or("", |result| result.reason.as_str()),
            attempts: iteration.attempts(),
            earlier_attempts: iteration.earlier.iter().map(EarlierView::of).collect(),
            result: result.map(|result| ResultView {
                started_at_unix_ms: result.started_at_unix_ms,
                duration_ms: result.duration_ms,
                worker: &result.worker,
                sandbox: result.sandbox.name(),
                usage: result.usage(),
                turns: result.turns.iter().map(TurnView::of).collect(),
                calls: result.calls.iter().map(CallView::of).collect(),
                expectations: &result.expectations,
                escapes: result
                    .turns
                    .iter()
                    .flat_map(|turn| &turn.escapes)
                    .map(|escape| EscapeView {
                        turn: escape.turn,
                        kind: escape.kind,
                        what: &escape.what,
                    })
                    .collect(),
                exposures: &result.exposures,
                traffic: &result.traffic,
                evidence: &result.evidence,
                judge: JudgementView::of(iteration),
            }),
        }
    }
}

impl<'a> TurnView<'a> {
    fn of(turn: &'a Turn) -> Self {
        Self {
            index: turn.index,
            prompt: cut(&turn.prompt, MOST_TEXT_BYTES),
            reply: cut(&turn.reply, MOST_TEXT_BYTES),
            ending: turn.ending,
            detail: turn.detail.as_deref(),
            started_at_unix_ms: turn.started_at_unix_ms,
            duration_ms: turn.duration_ms,
            usage: turn.usage,
            warnings: &turn.warnings,
            model: turn.model.as_deref(),
            reported_calls: turn.reported_calls,
        }
    }
}

impl<'a> CallView<'a> {
    fn of(call: &'a ToolCall) -> Self {
        let (arguments, result) = (
            Readable::of(call.arguments.as_deref()),
            Readable::of(call.result.as_deref()),
        );
        Self {
            id: &call.id,
            server: &call.server,
            tool: &call.tool,
            turn: call.turn,
            arguments: arguments.value,
            state: call.state,
            result: result.value,
            error: call.error.as_deref(),
            started_at_unix_ms: call.started_at_unix_ms,
            duration_ms: call.duration_ms,
            bytes: call.bytes,
            sha256: Some(call.sha256.as_str()).filter(|hash| !hash.is_empty()),
            truncated: call.truncated || arguments.truncated || result.truncated,
            legs: call.legs,
            http_status: call.http_status,
        }
    }
}
