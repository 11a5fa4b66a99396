//! The life of one attempt: seat the agent, hold the conversation, hand over what was recorded.
//!
//! `state` decides what comes next, `task` does it with the sibling rooms, which do not know each other.

mod control;
mod environment;
mod records;
mod seat;
mod state;
mod task;
mod turn;

pub use control::Control;
pub use environment::Environment;
pub use task::{Attempt, Ended, prepare};
