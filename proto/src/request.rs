//! Resources that were read and prompts that were fetched, as seen on the wire.

use serde::{Deserialize, Serialize};

/// One `resources/read` or `prompts/get`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct McpRequest {
    /// The configured name of the server.
    pub server: String,
    /// `resources/read` or `prompts/get`.
    pub method: String,
    /// The resource's URI or the prompt's name.
    pub name: String,
    /// Whether it was answered, and not with an error.
    pub ok: bool,
    /// The turn it was made in, from 0.
    pub turn: u32,
    /// When it was sent, in milliseconds of Unix time.
    pub started_at_unix_ms: i64,
}
