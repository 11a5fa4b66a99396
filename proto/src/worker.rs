//! What a worker says of itself.

use std::collections::BTreeMap;

use crate::agent::AgentKind;
use crate::assignment::SandboxLevel;
use crate::id::Lease;

/// The first message of a worker.
#[derive(Clone, Debug)]
pub struct Hello {
    /// A name that is unique among the workers of a coordinator.
    pub worker: String,
    /// The version of its program.
    pub version: String,
    /// How many attempts it runs at once.
    pub slots: u32,
    /// The agents it can run, with their versions.
    pub agents: Vec<AgentVersion>,
    /// What it can hold an agent with.
    pub sandboxes: Vec<SandboxLevel>,
    /// Free words for choosing workers.
    pub labels: BTreeMap<String, String>,
    /// Attempts still running there, after a reconnect.
    pub running: Vec<Lease>,
}

/// An agent program as found on a worker.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgentVersion {
    /// Which driver runs it.
    pub kind: AgentKind,
    /// As the program itself says; empty for agents without one.
    pub version: String,
}
