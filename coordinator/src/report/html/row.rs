//! One iteration in a list: what it is found and filtered by.

use std::collections::BTreeMap;

use mcproctor_proto::call::ToolCall;
use serde::Serialize;

use crate::outcome::Outcome;
use crate::record::AttemptRecord;
use crate::report::Iteration;
use crate::report::text::cut;

/// Reasons are cut here.
const MOST_REASON_BYTES: usize = 300;

/// Tools named in a row at most.
const MOST_TOOLS: usize = 40;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct RowView {
    iteration: u32,
    /// `passed`, `failed`, `invalid`, `aborted` or `waiting`.
    outcome: &'static str,
    /// The failure class or invalid cause, in words.
    why: Option<String>,
    reason: String,
    attempts: usize,
    duration_ms: Option<u64>,
    turns: usize,
    /// Tool, calls, failed calls.
    tools: Vec<(String, u32, u32)>,
    escapes: usize,
    warnings: usize,
    tokens: Option<u64>,
    cost_usd: Option<f64>,
    /// How the judge's verdict stands to the outcome, see [`super::judge::row`].
    #[serde(skip_serializing_if = "Option::is_none")]
    judge: Option<&'static str>,
    /// The piece that holds the details; `null` when the page would be too large with it.
    piece: Option<u32>,
}

impl RowView {
    pub(super) fn of(iteration: &Iteration, piece: Option<u32>) -> Self {
        let result = iteration.result.as_ref();
        let usage = result.map(AttemptRecord::usage).unwrap_or_default();
        let turns = result.map_or(&[][..], |result| &result.turns);
        Self {
            iteration: iteration.number,
            outcome: result.map_or("waiting", |result| result.outcome.name()),
            why: result.and_then(|result| why(result.outcome)),
            reason: result
                .map(|result| result.reason.as_str())
                .or(iteration.earlier.last().map(|earlier| earlier.reason.as_str()))
                .map(|reason| cut(reason, MOST_REASON_BYTES).into_owned())
                .unwrap_or_default(),
            attempts: iteration.attempts(),
            duration_ms: result.map(|result| result.duration_ms),
            turns: turns.len(),
            tools: result.map(|result| tools(&result.calls)).unwrap_or_default(),
            escapes: turns.iter().map(|turn| turn.escapes.len()).sum(),
            warnings: turns.iter().map(|turn| turn.warnings.len()).sum(),
            tokens: match (usage.input_tokens, usage.output_tokens) {
                (Some(input), Some(output)) => Some(input.saturating_add(output)),
                _ => None,
            },
            cost_usd: usage.cost_usd,
            judge: super::judge::row(iteration),
            piece,
        }
    }
}

/// The failure class or invalid cause, in words.
pub(super) fn why(outcome: Outcome) -> Option<String> {
    match outcome {
        Outcome::Failed(class) => Some(class.name().replace('_', " ")),
        Outcome::Invalid(cause) => Some(cause.name().to_owned()),
        Outcome::Passed | Outcome::Aborted => None,
    }
}

fn tools(calls: &[ToolCall]) -> Vec<(String, u32, u32)> {
    let mut counts: BTreeMap<&str, (u32, u32)> = BTreeMap::new();
    for call in calls {
        let (all, failed) = counts.entry(call.tool.as_str()).or_default();
        *all += 1;
        *failed += u32::from(!call.succeeded());
    }
    counts
        .into_iter()
        .take(MOST_TOOLS)
        .map(|(tool, (all, failed))| (cut(tool, 200).into_owned(), all, failed))
        .collect()
}
