//! What a worker is asked to run, and what it says of it.

use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::agent::Agent;
use crate::allowance::Allowance;
use crate::call::{CallState, ToolCall};
use crate::evidence::EvidenceRef;
use crate::exposure::Exposure;
use crate::id::{IterationId, Lease, RunId};
use crate::request::McpRequest;
use crate::server::Server;
use crate::traffic::ModelTraffic;
use crate::turn::Turn;

/// What holds an agent. Weaker levels come first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SandboxLevel {
    /// Fresh home and work folder, environment from nothing, own process group killed whole.
    Process,
}

impl SandboxLevel {
    /// The name in config files, reports and on the wire.
    pub fn name(self) -> &'static str {
        match self {
            Self::Process => "process",
        }
    }

    /// The level of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        (name == "process").then_some(Self::Process)
    }
}

impl fmt::Display for SandboxLevel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// One attempt, with all that a worker needs for it.
#[derive(Clone, Debug)]
pub struct Assignment {
    /// The right to run it.
    pub lease: Lease,
    /// The run it belongs to.
    pub run: RunId,
    /// The iteration it is a try at.
    pub iteration: IterationId,
    /// From 1.
    pub attempt_number: u32,
    /// The agent.
    pub agent: Agent,
    /// The servers it is held in front of.
    pub servers: Vec<Server>,
    /// The first message.
    pub prompt: String,
    /// The most turns that the conversation can take.
    pub max_turns: u32,
    /// Hard limit of one turn.
    pub turn_timeout: Duration,
    /// How long the agent may be silent with nothing outstanding (no model request, no tool call) before the turn counts
    /// as timed out.
    pub idle_timeout: Duration,
    /// What holds the agent.
    pub sandbox: SandboxLevel,
    /// Further certificate authorities for the agent's `base_url`, PEM.
    pub model_ca_pem: Option<String>,
    /// What it may use of its model.
    pub allowance: Allowance,
    /// Write the headers of every proxied request to the debug log. Contains secrets.
    pub debug: bool,
}

/// What is known of an attempt after a turn.
#[derive(Clone, Debug)]
pub struct TurnReport {
    /// The turn.
    pub turn: Turn,
    /// The calls made in this turn.
    pub calls: Vec<ToolCall>,
    /// The requests of this turn that are no calls, as far as expectations ask about them.
    pub requests: Vec<McpRequest>,
    /// Every server as seen so far.
    pub exposures: Vec<Exposure>,
    /// The model as seen so far.
    pub traffic: ModelTraffic,
}

/// The coordinator's word after a turn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Instruction {
    /// Send this message into the same session.
    Say(String),
    /// The conversation is over.
    Finish,
}

/// What a worker says once an attempt is over and its evidence is uploaded.
#[derive(Clone, Debug)]
pub struct AttemptReport {
    /// Why the worker could not carry the attempt through, if so.
    pub machinery_fault: Option<String>,
    /// What held the agent.
    pub sandbox: SandboxLevel,
    /// What was uploaded.
    pub evidence: Vec<EvidenceRef>,
    /// Every call of the attempt in its last state.
    pub calls: Vec<ToolCall>,
    /// Every request of the attempt that is no call, as far as expectations ask about it.
    pub requests: Vec<McpRequest>,
    /// Every server in its last state.
    pub exposures: Vec<Exposure>,
    /// The model in its last state.
    pub traffic: ModelTraffic,
    /// From the assignment to the end, in milliseconds.
    pub duration_ms: u64,
}

impl AttemptReport {
    /// The report of an attempt that never came to anything, through a fault of the machinery.
    pub fn fault(reason: impl Into<String>) -> Self {
        Self {
            machinery_fault: Some(reason.into()),
            sandbox: SandboxLevel::Process,
            evidence: Vec::new(),
            calls: Vec::new(),
            requests: Vec::new(),
            exposures: Vec::new(),
            traffic: ModelTraffic::default(),
            duration_ms: 0,
        }
    }
}

/// Something to look at while an attempt goes on; never needed for a verdict and may be lost.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LiveEvent {
    /// A turn began.
    TurnStarted {
        /// From 0.
        turn: u32,
    },
    /// A tool call was sent.
    CallStarted {
        /// The proxy's id of the call.
        call: String,
        /// The tool's name.
        tool: String,
    },
    /// A tool call ended.
    CallEnded {
        /// The proxy's id of the call.
        call: String,
        /// The tool's name.
        tool: String,
        /// How it ended.
        state: CallState,
        /// Milliseconds.
        duration_ms: u64,
    },
}
