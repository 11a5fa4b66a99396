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
use crate::redact::Blinded;
use crate::request::McpRequest;
use crate::server::Server;
use crate::traffic::ModelTraffic;
use crate::turn::Turn;

/// The image that containers are made of where the config names none.
pub const DEFAULT_IMAGE: &str = "mcproctor-agents";

/// What holds an agent. Weaker levels come first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SandboxLevel {
    /// Fresh home and work folder, environment from nothing, own process group killed whole.
    Process,
    /// Files, TCP by port, signals and abstract sockets confined by Landlock, other sockets by a filter of system calls.
    Landlock,
    /// No network but the ways to proxies and relay, namespaces of its own, a read-only system.
    Bubblewrap,
    /// The same, by an engine for containers.
    Container,
}

impl SandboxLevel {
    /// Every level, the weakest first.
    pub const ALL: [Self; 4] = [Self::Process, Self::Landlock, Self::Bubblewrap, Self::Container];

    /// The name in config files, reports and on the wire.
    pub fn name(self) -> &'static str {
        match self {
            Self::Process => "process",
            Self::Landlock => "landlock",
            Self::Bubblewrap => "bubblewrap",
            Self::Container => "container",
        }
    }

    /// The level of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|level| level.name() == name)
    }
}

impl fmt::Display for SandboxLevel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// What the processes of one attempt may use together. `None` is no limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Resources {
    /// Bytes of memory.
    pub memory_bytes: Option<u64>,
    /// Processes and threads at once.
    pub processes: Option<u32>,
    /// Processors' worth of time.
    pub cpus: Option<u32>,
    /// Bytes in its home, work and temporary folder.
    pub disk_bytes: Option<u64>,
}

impl Resources {
    /// What an attempt may use at levels that confine where nobody said: room for an agent that works with a shell, and far
    /// less than brings a machine down.
    const CONFINED: Self = Self {
        memory_bytes: Some(4 << 30),
        processes: Some(1024),
        cpus: None,
        disk_bytes: Some(4 << 30),
    };

    /// These limits at `level`, with those that a level that confines has by itself.
    #[must_use]
    pub fn at(self, level: SandboxLevel) -> Self {
        if level == SandboxLevel::Process {
            return self;
        }
        Self {
            memory_bytes: self.memory_bytes.or(Self::CONFINED.memory_bytes),
            processes: self.processes.or(Self::CONFINED.processes),
            cpus: self.cpus.or(Self::CONFINED.cpus),
            disk_bytes: self.disk_bytes.or(Self::CONFINED.disk_bytes),
        }
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
    /// The image that a container is made of: its id, or a name.
    pub image: String,
    /// What the agent may use there.
    pub resources: Resources,
    /// Further certificate authorities for the agent's `base_url`, PEM.
    pub model_ca_pem: Option<String>,
    /// What it may use of its model.
    pub allowance: Allowance,
    /// Keys of the run that the worker has no use for, to be taken out of what it records.
    pub blinded: Vec<Blinded>,
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
