//! What the proxy saw of a server besides its calls.

use serde::{Deserialize, Serialize};

/// Proof, or its absence, that the agent was shown a server's tools.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Exposure {
    /// The configured name of the server.
    pub server: String,
    /// `initialize` or `server/discover` was answered.
    pub initialized: bool,
    /// `tools/list` was answered.
    pub tools_listed: bool,
    /// Tools in the list as the agent saw it.
    pub tool_count: u32,
    /// SHA-256 of the canonical tool list in hex; empty when it was never listed.
    pub tools_sha256: String,
    /// The server's own name.
    pub server_name: Option<String>,
    /// The server's own version.
    pub server_version: Option<String>,
    /// The protocol revision that was agreed on.
    pub protocol_version: Option<String>,
    /// Faults that were not tied to one call: unreachable, 5xx, broken replies.
    pub faults: Vec<ServerFault>,
    /// The server answered 401.
    pub login_required: bool,
    /// Why the recording cannot be trusted, if it cannot; the attempt is then invalid.
    pub recording_fault: Option<String>,
}

/// A fault of the server that was not tied to one call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ServerFault {
    /// What happened, for people.
    pub what: String,
    /// Milliseconds of Unix time.
    pub at_unix_ms: i64,
}
