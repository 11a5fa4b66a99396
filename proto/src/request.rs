//! Requests to a server that are no tool calls, as far as expectations ask about them.

use serde::{Deserialize, Serialize};

/// One `resources/read` or `prompts/get`, as seen on the wire once its exchange was over.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct McpRequest {
    /// The configured name of the server.
    pub server: String,
    /// `resources/read` or `prompts/get`.
    pub method: String,
    /// The resource's URI, or the prompt's name.
    pub name: String,
    /// Whether the server answered with a result that is complete: no error, no HTTP error, no question back.
    pub ok: bool,
    /// The turn it was sent in, from 0.
    pub turn: u32,
    /// When it was sent, in milliseconds of Unix time.
    pub started_at_unix_ms: i64,
}
