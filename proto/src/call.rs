//! Tool calls as seen on the wire.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// The JSON-RPC error code with which a server's bridge answers for a child that is gone, or whose message is beyond every
/// limit. The range is the one that JSON-RPC 2.0, section 5.1, leaves to implementations.
pub const SERVER_EXITED: i32 = -32098;

/// How one tool call ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CallState {
    /// A result without `isError`.
    Ok,
    /// A result with `isError: true`.
    ToolError,
    /// A JSON-RPC error.
    ProtocolError,
    /// The server answered the request with an HTTP error status.
    HttpError,
    /// The client cancelled it.
    Cancelled,
    /// The connection was lost, or the reply was broken.
    TransportLost,
    /// The stream ended early and may be resumed; only while the attempt goes on.
    Suspended,
    /// No answer came before the attempt was over.
    NeverFinished,
}

impl CallState {
    /// The name used in records and reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::ToolError => "tool_error",
            Self::ProtocolError => "protocol_error",
            Self::HttpError => "http_error",
            Self::Cancelled => "cancelled",
            Self::TransportLost => "transport_lost",
            Self::Suspended => "suspended",
            Self::NeverFinished => "never_finished",
        }
    }
}

/// One `tools/call`, recorded from the moment it was sent.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolCall {
    /// The proxy's own id of the call, unique inside the attempt.
    pub id: String,
    /// The configured name of the server.
    pub server: String,
    /// The tool's name on the wire.
    pub tool: String,
    /// The arguments as they were sent; `None` when absent or beyond the inline cap.
    pub arguments: Option<Box<RawValue>>,
    /// How it ended.
    pub state: CallState,
    /// The JSON-RPC `result` or `error` as it came; `None` when there was none or it is beyond the inline cap.
    pub result: Option<Box<RawValue>>,
    /// A short reason for every state but [`CallState::Ok`].
    pub error: Option<String>,
    /// When the request was sent, in milliseconds of Unix time.
    pub started_at_unix_ms: i64,
    /// From the request to the end of the reply, in milliseconds.
    pub duration_ms: u64,
    /// Size of the decoded result message, in bytes.
    pub bytes: u64,
    /// SHA-256 of the decoded result message, in hex; empty when there was none.
    pub sha256: String,
    /// Whether arguments or result were left out because of their size.
    pub truncated: bool,
    /// Requests that this one logical call took.
    pub legs: u32,
    /// The turn it was made in, from 0.
    pub turn: u32,
    /// The HTTP status of the exchange that answered it.
    pub http_status: Option<u16>,
}

impl ToolCall {
    /// Whether this call counts for an expectation: it was answered and the answer is no error.
    pub fn succeeded(&self) -> bool {
        self.state == CallState::Ok
    }

    fn error_code(&self) -> Option<i64> {
        let error: serde_json::Value = serde_json::from_str(self.result.as_deref()?.get()).ok()?;
        error.get("code")?.as_i64()
    }

    /// Whether the server, not the agent, is to blame for its end: an HTTP 5xx, a broken reply or none at all.
    pub fn server_fault(&self) -> bool {
        match self.state {
            CallState::HttpError => self.http_status.is_none_or(|status| status >= 500),
            CallState::TransportLost | CallState::NeverFinished | CallState::Suspended => true,
            CallState::ProtocolError => self.error_code() == Some(i64::from(SERVER_EXITED)),
            CallState::Ok | CallState::ToolError | CallState::Cancelled => false,
        }
    }
}
