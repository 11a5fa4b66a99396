//! What workers and the coordinator say to each other.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::agent::AgentKind;
use crate::assignment::{Assignment, AttemptReport, Instruction, LiveEvent, SandboxLevel, TurnReport};
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
    /// What it can hold an agent with. `container` is asked of its engine when an attempt needs it, and may be missing here.
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

/// What a worker says after its hello.
#[derive(Clone, Debug)]
pub enum Says {
    /// It still runs these.
    Heartbeat(Vec<Lease>),
    /// Something to look at.
    Event(Lease, LiveEvent),
    /// A turn is over; it keeps the conversation until it is told how to go on.
    Turn(Lease, Box<TurnReport>),
    /// Nothing of an attempt runs any more, and its slot is free; its evidence is still to be uploaded.
    Vacated(Lease),
    /// An attempt is over and its evidence is uploaded.
    Finished(Lease, Box<AttemptReport>),
    /// It takes no more assignments and ends when its attempts have.
    Leaving,
}

/// What the coordinator tells a worker.
#[derive(Clone, Debug)]
pub enum Order {
    /// How often to renew, and how long a lease lasts without.
    Welcome {
        /// Between two heartbeats.
        heartbeat: Duration,
        /// How long a lease lasts without one.
        lease: Duration,
    },
    /// Run this.
    Assignment(Box<Assignment>),
    /// How to go on after a turn.
    Instruction {
        /// Of which attempt.
        lease: Lease,
        /// The turn it follows.
        after_turn: u32,
        /// The word.
        instruction: Instruction,
    },
    /// Kill the attempt and say what was recorded so far.
    Cancel {
        /// Which.
        lease: Lease,
        /// Why, for the log.
        reason: String,
    },
    /// The attempt's result is durable, or was refused as late.
    Acknowledged {
        /// Which.
        lease: Lease,
        /// Whether it counts.
        accepted: bool,
    },
    /// No more assignments come; end when the attempts have.
    Drain,
}
