//! What the schedule is told, what it is made of, and how it ends.

use std::time::Duration;

use mcproctor_proto::agent::Agent;
use mcproctor_proto::assignment::Resources;
use mcproctor_proto::redact::Blinded;
use mcproctor_proto::server::Server;
use mcproctor_proto::worker::{Hello, Order, Says};
use tokio::sync::mpsc::UnboundedSender;

use crate::config::GatewayAccess;
use crate::judge::Judge;
use crate::limits::Limits;
use crate::price::Prices;
use crate::record::RunRecord;

/// Where orders for one worker go. It never blocks the schedule; the worker's slots bound what waits in it.
pub type Outbox = UnboundedSender<Order>;

/// What the task is told.
#[derive(Debug)]
pub enum Input {
    /// By `rpc`: a worker said hello.
    Joined {
        /// What it said.
        hello: Hello,
        /// Where it listens.
        outbox: Outbox,
    },
    /// By `rpc`: a worker's stream ended.
    Left {
        /// Its name.
        worker: String,
        /// Why, in words.
        reason: String,
    },
    /// By `rpc`: a worker said something.
    Says {
        /// Its name.
        worker: String,
        /// What.
        says: Says,
    },
    /// By the user: give out nothing more, kill what runs, report what there is.
    Cancel {
        /// In words.
        reason: String,
    },
    /// By the run: no worker is left that could go on.
    Abandon {
        /// In words.
        reason: String,
    },
}

/// What the run is made of; does not change.
#[derive(Debug)]
pub struct Work {
    /// The plan as stored.
    pub run: RunRecord,
    /// The agents, in the order of the record.
    pub agents: Vec<Agent>,
    /// The servers that every attempt is held in front of.
    pub servers: Vec<Server>,
    /// What each attempt may use, as far as the config says.
    pub resources: Resources,
    /// Hard limit of one turn.
    pub turn_timeout: Duration,
    /// How long an agent may be silent with nothing outstanding.
    pub idle_timeout: Duration,
    /// How often workers renew their leases.
    pub heartbeat: Duration,
    /// How long a lease lasts without.
    pub lease: Duration,
    /// Log the headers of proxied requests.
    pub debug: bool,
    /// Who picks replies and judges tones that gate; needed by test cases that leave that to it.
    pub judge: Option<Judge>,
    /// What tokens cost.
    pub prices: Prices,
    /// What the run may use.
    pub limits: Limits,
    /// How agents reach their models, if not with keys of their own.
    pub gateway: Option<GatewayAccess>,
    /// The keys that workers take out of what they record without knowing them.
    pub blinded: Vec<Blinded>,
}

/// How the schedule ended.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Finished {
    /// Why nothing more was given out before the plan was through, if so.
    pub stopped: Option<String>,
    /// Whether that is because a limit of the run is reached.
    pub limit_reached: bool,
    /// Whether the user asked for it.
    pub cancelled: bool,
    /// Iterations that stayed invalid.
    pub invalid: u64,
}
