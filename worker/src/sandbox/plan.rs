//! What a worker tells the program that shuts itself in.

use std::collections::BTreeMap;
use std::ffi::OsString;
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
    /// By a container, which has to be started.
    Container(Entrance),
}

/// How a container is started, and entered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Entrance {
    /// The engine's command.
    pub(super) engine: PathBuf,
    /// Its arguments.
    pub(super) args: Vec<OsString>,
    /// Its environment.
    pub(super) environment: BTreeMap<String, OsString>,
    /// The Unix socket over which the first process inside is told what to do.
    pub(super) socket: PathBuf,
    /// The file that stays locked while the engine's command runs, and gets a line when a container has ended by itself.
    pub(super) standing: PathBuf,
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
