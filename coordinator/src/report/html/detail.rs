//! Everything about one iteration, as the page's script shows it.

use std::borrow::Cow;

use mcproctor_proto::call::ToolCall;
use mcproctor_proto::evidence::EvidenceKind;
use mcproctor_proto::exposure::Exposure;
use mcproctor_proto::turn::{Turn, TurnEnding, Usage};
use serde::Serialize;
use serde_json::value::RawValue;

use crate::outcome::{FailureClass, Outcome};
use crate::record::{AttemptRecord, ExpectationResult};
use crate::report::text::cut;
use crate::report::time::rfc3339;
use crate::report::{EarlierAttempt, Iteration, ReportError, RunData};

use super::judge::JudgementView;
use super::row::why;

/// Arguments and results are cut here; `results.json` keeps more.
const MOST_JSON_BYTES: usize = 16 * 1024;

/// Prompts and replies are cut here.
const MOST_TEXT_BYTES: usize = 32 * 1024;

/// The end of the agent's standard error that is shown when it failed.
const MOST_STDERR_BYTES: usize = 4 * 1024;

/// Calls shown at most; `results.json` has all.
const MOST_CALLS: usize = 500;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct DetailView<'a> {
    iteration: u32,
    earlier: Vec<EarlierView<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    judge: Option<JudgementView>,
    #[serde(flatten)]
    result: Option<ResultView<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct EarlierView<'a> {
    attempt: u32,
    outcome: &'static str,
    why: Option<String>,
    reason: &'a str,
    duration_ms: u64,
    worker: &'a str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ResultView<'a> {
    attempt: u32,
    started_at: String,
    worker: &'a str,
    sandbox: &'static str,
    response_model: Option<&'a str>,
    refusal: Option<String>,
    model_waiting_ms: u64,
    usage: Usage,
    expectations: &'a [ExpectationResult],
    turns: Vec<TurnView<'a>>,
    calls: Vec<CallView<'a>>,
    calls_left_out: usize,
    exposures: Vec<ExposureView<'a>>,
    stderr: Option<String>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct TurnView<'a> {
    index: u32,
    prompt: Cow<'a, str>,
    reply: Cow<'a, str>,
    ending: TurnEnding,
    detail: Option<&'a str>,
    duration_ms: u64,
    escapes: Vec<(&'static str, &'a str)>,
    warnings: &'a [String],
    usage: Usage,
}

/// Arguments and result are texts, so that the page can show numbers of any size as they were sent.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct CallView<'a> {
    server: &'a str,
    tool: &'a str,
    turn: u32,
    state: &'static str,
    arguments: Option<Cow<'a, str>>,
    result: Option<Cow<'a, str>>,
    error: Option<&'a str>,
    /// From the start of the attempt.
    after_ms: i64,
    duration_ms: u64,
    bytes: u64,
    sha256: &'a str,
    truncated: bool,
    legs: u32,
    http_status: Option<u16>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ExposureView<'a> {
    server: &'a str,
    initialized: bool,
    tools_listed: bool,
    tool_count: u32,
    name: Option<&'a str>,
    version: Option<&'a str>,
    protocol: Option<&'a str>,
    login_required: bool,
    faults: Vec<&'a str>,
    recording_fault: Option<&'a str>,
}

impl<'a> DetailView<'a> {
    /// # Errors
    ///
    /// When evidence that is there cannot be read.
    pub(super) fn of(data: &dyn RunData, iteration: &'a Iteration) -> Result<Self, ReportError> {
        Ok(Self {
            iteration: iteration.number,
            earlier: iteration.earlier.iter().map(EarlierView::of).collect(),
            judge: JudgementView::of(iteration),
            result: match &iteration.result {
                Some(result) => Some(ResultView::of(result, stderr(data, result)?)),
                None => None,
            },
        })
    }
}

impl<'a> EarlierView<'a> {
    fn of(earlier: &'a EarlierAttempt) -> Self {
        Self {
            attempt: earlier.attempt,
            outcome: earlier.outcome.name(),
            why: why(earlier.outcome),
            reason: &earlier.reason,
            duration_ms: earlier.duration_ms,
            worker: &earlier.worker,
        }
    }
}

impl<'a> ResultView<'a> {
    fn of(result: &'a AttemptRecord, stderr: Option<String>) -> Self {
        Self {
            attempt: result.attempt,
            started_at: rfc3339(result.started_at_unix_ms),
            worker: &result.worker,
            sandbox: result.sandbox.name(),
            response_model: result.traffic.response_model.as_deref(),
            refusal: result.traffic.refusal.as_ref().map(|refusal| match &refusal.code {
                Some(code) => format!("{} {code}: {}", refusal.status, refusal.message),
                None => format!("{}: {}", refusal.status, refusal.message),
            }),
            model_waiting_ms: result.traffic.waiting_ms,
            usage: result.usage(),
            expectations: &result.expectations,
            turns: result.turns.iter().map(TurnView::of).collect(),
            calls: result
                .calls
                .iter()
                .take(MOST_CALLS)
                .map(|call| CallView::of(call, result))
                .collect(),
            calls_left_out: result.calls.len().saturating_sub(MOST_CALLS),
            exposures: result.exposures.iter().map(ExposureView::of).collect(),
            stderr,
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
            duration_ms: turn.duration_ms,
            escapes: turn
                .escapes
                .iter()
                .map(|escape| (super::page::escape_words(escape.kind), escape.what.as_str()))
                .collect(),
            warnings: &turn.warnings,
            usage: turn.usage,
        }
    }
}

impl<'a> CallView<'a> {
    fn of(call: &'a ToolCall, attempt: &AttemptRecord) -> Self {
        let text = |raw: &'a Option<Box<RawValue>>| raw.as_deref().map(|raw| cut(raw.get(), MOST_JSON_BYTES));
        Self {
            server: &call.server,
            tool: &call.tool,
            turn: call.turn,
            state: call.state.name(),
            arguments: text(&call.arguments),
            result: text(&call.result),
            error: call.error.as_deref(),
            after_ms: call.started_at_unix_ms.saturating_sub(attempt.started_at_unix_ms),
            duration_ms: call.duration_ms,
            bytes: call.bytes,
            sha256: &call.sha256,
            truncated: call.truncated,
            legs: call.legs,
            http_status: call.http_status,
        }
    }
}

impl<'a> ExposureView<'a> {
    fn of(exposure: &'a Exposure) -> Self {
        Self {
            server: &exposure.server,
            initialized: exposure.initialized,
            tools_listed: exposure.tools_listed,
            tool_count: exposure.tool_count,
            name: exposure.server_name.as_deref(),
            version: exposure.server_version.as_deref(),
            protocol: exposure.protocol_version.as_deref(),
            login_required: exposure.login_required,
            faults: exposure.faults.iter().map(|fault| fault.what.as_str()).collect(),
            recording_fault: exposure.recording_fault.as_deref(),
        }
    }
}

/// The end of the agent's standard error, where it can explain what went wrong.
fn stderr(data: &dyn RunData, result: &AttemptRecord) -> Result<Option<String>, ReportError> {
    let explains = match result.outcome {
        Outcome::Failed(class) => matches!(class, FailureClass::AgentError | FailureClass::RanOutOfTime),
        Outcome::Invalid(_) => true,
        Outcome::Passed | Outcome::Aborted => false,
    };
    let piece = result
        .evidence
        .iter()
        .find(|piece| piece.kind == EvidenceKind::Stderr && piece.bytes > 0);
    let Some(piece) = piece.filter(|_| explains) else {
        return Ok(None);
    };
    Ok(data.evidence(&piece.sha256)?.map(|bytes| {
        let tail = bytes
            .get(bytes.len().saturating_sub(MOST_STDERR_BYTES)..)
            .unwrap_or_default();
        String::from_utf8_lossy(tail).into_owned()
    }))
}
