//! What people and programs read after a run, and while it goes on.
//!
//! [`write_all`] reads a [`RunData`] twice: once for the figures, once for the iterations, which are written as they come.
//! `results.json` and `report.html` each have a module of their own.

mod data;
mod error;
mod figures;
mod html;
mod iteration;
mod json;
mod judge;
mod servers;
mod summary;
mod tally;
mod text;
mod time;
mod write;

pub use data::{MemoryRun, RunData};
pub use error::ReportError;
pub use figures::{Cell, Figures, Group, ToolFigures};
pub use iteration::{EarlierAttempt, Iteration, for_each_iteration};
pub use json::SCHEMA_VERSION;
pub use judge::JudgeFigures;
pub use servers::{Face, ServersSeen};
pub use summary::{AgentSummary, Summary, SummaryBuilder};
pub use tally::Tally;
pub use write::{Format, Written, write, write_all};
