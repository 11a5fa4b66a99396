//! What a worker tells the program that shuts itself in.

use serde::{Deserialize, Serialize};

use super::landlock::Rules;

/// What to do before the agent is started. Handed over as an argument: nothing in it is secret.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Plan {
    /// The descriptor on which a failure is told.
    pub(super) channel: Option<i32>,
    /// How to confine the agent.
    pub(super) kind: Kind,
}

/// How to confine an agent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum Kind {
    /// By rules of the kernel.
    Landlock(Rules),
}
