//! Scenarios: the file as written, checked into what the endpoint plays.

mod error;
mod fault;
mod key;
mod node;
mod read;
mod script;
mod step;

pub use error::ScenarioError;
pub(crate) use fault::{Counted, Fault, FaultKind, Moment};
pub(crate) use key::Key;
pub use script::Scenarios;
pub(crate) use script::{Play, Scenario};
pub(crate) use step::{Arguments, ToolUse, Turn};

#[cfg(test)]
mod tests;
