//! What people and programs read after a run, and while it goes on.
//!
//! [`write()`] reads a [`RunData`] once, on several threads (`pass`): it collects the figures and writes the iterations as they
//! come. Every file has a module of its own.

mod data;
mod error;
mod error_text;
mod figures;
mod forest;
mod gate;
mod html;
mod iteration;
mod json;
mod judge;
mod junit;
mod markdown;
mod pass;
mod rate;
mod servers;
mod suite;
mod summary;
mod tally;
mod time;
mod write;

pub use data::{MemoryRun, PendingAttempt, RunData};
pub use error::ReportError;
pub use figures::{
    ArgumentError, ArgumentErrors, Capped, Cell, Confusion, ErrorTextFigures, ErrorTexts, Example, FaultFigures,
    FieldKey, Figures, Funnel, Group, Instead, ServerFaults, Share, ToolFigures, UnneededCalls, UnneededFigures,
};
pub use iteration::{EarlierAttempt, Iteration, for_each_iteration};
pub use json::SCHEMA_VERSION;
pub use judge::JudgeFigures;
pub use servers::{Face, ServersSeen};
pub use summary::{AgentSummary, Summary, SummaryBuilder};
pub use tally::Tally;
pub use write::{Format, write};
