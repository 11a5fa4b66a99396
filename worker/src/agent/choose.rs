//! Which driver runs which kind of agent.

use mcproctor_proto::agent::{Agent, AgentKind};

use super::claude::Claude;
use super::codex::Codex;
use super::command::Command;
use super::driver::{Driver, Place};
use super::error::AgentError;

/// The driver for `agent` at `place`.
///
/// # Errors
///
/// When the program is not installed or `agent` and `place` do not fit together.
pub fn driver(agent: &Agent, place: &Place) -> Result<Box<dyn Driver>, AgentError> {
    Ok(match agent.kind {
        AgentKind::Claude => Box::new(Claude::new(agent, place)?),
        AgentKind::Codex => Box::new(Codex::new(agent, place)?),
        AgentKind::Command => Box::new(Command::new(agent, place)?),
    })
}
