//! The kinds of event: terminal, plain lines, JSON lines and live reports all hear the same.

use mcproctor_proto::call::CallState;
use mcproctor_proto::id::RunId;
use mcproctor_proto::turn::Usage;
use serde::Serialize;

use crate::judge::{Agreement, JudgeVerdict, Judgement};
use crate::outcome::Outcome;
use crate::record::{AttemptRecord, RunRecord, RunState};

/// Which iteration, and which try at it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct AttemptKey {
    /// Index of the cell, from 0.
    pub cell: u32,
    /// Number of the iteration in its cell, from 1.
    pub iteration: u32,
    /// Number of the attempt, from 1.
    pub attempt: u32,
}

impl AttemptKey {
    /// The key of a stored attempt.
    pub fn of(record: &AttemptRecord) -> Self {
        Self {
            cell: record.cell,
            iteration: record.iteration,
            attempt: record.attempt,
        }
    }
}

/// One thing that happened. `at` of the envelope is milliseconds of Unix time.
#[derive(Clone, Debug, Serialize)]
#[serde(tag = "event", rename_all = "snake_case", rename_all_fields = "camelCase")]
pub enum Event {
    /// The plan stands and is stored; what a resumed run had already is told by `attempt_finished` events before this.
    RunStarted {
        /// What was planned.
        run: Box<RunRecord>,
        /// Iterations that already had a result, in a resumed run.
        already: u64,
    },
    /// Something the user should know.
    Notice {
        /// In words.
        text: String,
    },
    /// A worker got an attempt.
    AttemptStarted {
        /// Which.
        key: AttemptKey,
        /// Its name.
        worker: String,
    },
    /// The agent was sent a message.
    TurnStarted {
        /// In which attempt.
        key: AttemptKey,
        /// From 0.
        turn: u32,
    },
    /// The agent called a tool.
    CallStarted {
        /// In which attempt.
        key: AttemptKey,
        /// The proxy's id of the call.
        call: String,
        /// The tool.
        tool: String,
    },
    /// A tool call ended.
    CallEnded {
        /// In which attempt.
        key: AttemptKey,
        /// The proxy's id of the call.
        call: String,
        /// The tool.
        tool: String,
        /// How.
        state: CallState,
        /// Milliseconds.
        duration_ms: u64,
    },
    /// An attempt's result is durable.
    AttemptFinished {
        /// Which.
        key: AttemptKey,
        /// What it came to.
        outcome: Outcome,
        /// Why, in words.
        reason: String,
        /// Whether it is the iteration's result; otherwise a new attempt follows.
        last: bool,
        /// Milliseconds.
        duration_ms: u64,
    },
    /// What the judge said of an iteration is durable.
    Judged {
        /// The attempt that is the iteration's result.
        key: AttemptKey,
        /// What it came to.
        verdict: JudgeVerdict,
        /// How that stands to what was measured.
        agreement: Agreement,
        /// Why, in its own words; the cause when the judge failed.
        reasoning: String,
        /// What it came to about the tone, where that was asked.
        tone: Option<JudgeVerdict>,
        /// The model that answered.
        model: String,
        /// Tokens and money of everything that it was asked about the attempt.
        usage: Usage,
        /// Milliseconds.
        duration_ms: u64,
    },
    /// No further attempts are given out; those that run are waited for or killed.
    Stopping {
        /// In words.
        reason: String,
    },
    /// The HTML report can be opened.
    ReportWritten {
        /// Absolute path.
        path: String,
    },
    /// The run is over and its reports are written.
    RunFinished {
        /// The run.
        run: RunId,
        /// How it stands.
        state: RunState,
    },
}

impl Event {
    /// That an attempt is over.
    pub fn finished(record: &AttemptRecord) -> Self {
        Self::AttemptFinished {
            key: AttemptKey::of(record),
            outcome: record.outcome,
            reason: record.reason.clone(),
            last: record.last,
            duration_ms: record.duration_ms,
        }
    }

    /// That an attempt was judged; `None` when the judgement holds no opinion.
    pub fn judged(key: AttemptKey, attempt: &AttemptRecord, judgement: &Judgement) -> Option<Self> {
        let opinion = judgement.opinion.as_ref()?;
        Some(Self::Judged {
            key,
            verdict: opinion.verdict,
            agreement: Agreement::with(attempt, opinion.verdict),
            reasoning: opinion.reasoning.clone(),
            tone: judgement.tone.as_ref().map(|tone| tone.verdict),
            model: opinion.model.clone(),
            usage: judgement.usage(),
            duration_ms: opinion.duration_ms,
        })
    }
}

/// An event and when it happened.
#[derive(Clone, Debug, Serialize)]
pub struct Envelope {
    /// Milliseconds of Unix time.
    pub at: i64,
    /// What happened.
    #[serde(flatten)]
    pub event: Event,
}
