//! Who runs what next: a pure state and the task that feeds it.

mod state;
mod task;

pub use state::{Conclusion, Effect, Settings, State, Tried, attempt_id, iteration_id};
pub use task::{Finished, Input, Outbox, Work, run};
