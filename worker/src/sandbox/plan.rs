//! What a worker tells the program that shuts itself in.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::landlock::Rules;

/// What to do before the agent is started. Handed over as an argument: nothing in it is secret.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Plan {
    /// The descriptor on which a failure and the end are told. When the worker closes its end, everything is to end.
    pub(super) channel: i32,
    /// How to confine the agent.
    pub(super) kind: Kind,
    /// Ways out of a network namespace.
    pub(super) ways: Vec<Way>,
    /// What the agent's processes may use.
    pub(super) limits: OwnLimits,
}

/// How to confine an agent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum Kind {
    /// By rules of the kernel.
    Landlock(Rules),
    /// The namespaces are there already.
    Namespaces,
}

/// A way out of a network namespace.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Way {
    /// The loopback port inside.
    pub(super) port: u16,
    /// The Unix socket that it leads to, as seen inside.
    pub(super) socket: PathBuf,
}

/// Limits that a process lays on itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct OwnLimits {
    /// The largest file, in bytes.
    pub(super) file_bytes: Option<u64>,
    /// The most processes and threads of the user.
    pub(super) processes: Option<u64>,
}
