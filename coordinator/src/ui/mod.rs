//! What the terminal shows while a run goes on, and what stays of it afterwards.
//!
//! Everything here listens to [`crate::event::Envelope`]s and never makes the run wait: events are folded into a
//! [`View`] of bounded size at once, and what is written to a terminal or a pipe is written by a thread of its own.

mod figures;
mod handle;
mod json;
mod judge;
mod marks;
mod mode;
mod model;
mod output;
mod plain;
mod row;
#[cfg(test)]
mod sample;
mod screen;
mod summary;
#[cfg(test)]
mod tests;
mod text;
mod theme;
mod tui;

pub use handle::{Options, StopRequest, UiHandle, start};
pub use marks::{Cell, Counts, Mark};
pub use mode::{Mode, OutputChoice, Surroundings};
pub use model::{LastCall, Running, View};
pub use screen::restore_terminal;
