//! Ranges and tests that may be looked at after every iteration, for stopping early.
//!
//! Every other range holds for a number of iterations that was fixed beforehand: stopping as soon as one of those looks good
//! makes it wrong more often than it says.

mod mean;
mod two_agents;

pub use mean::confidence_sequence;
pub use two_agents::{Side, TwoAgents};
