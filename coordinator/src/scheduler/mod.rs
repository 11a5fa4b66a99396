//! Who runs what next: a pure state and the task that feeds it.

mod message;
mod state;
mod task;

pub use message::{Finished, Input, Outbox, Work};
pub use state::{Conclusion, Effect, Settings, State, Tried, attempt_id, iteration_id};
pub use task::run;
