//! Why a server's tools could not be had.

use std::time::Duration;

/// Why a server's tools could not be had.
#[derive(Debug, thiserror::Error)]
pub enum ProbeError {
    /// The URL is no plain `http` one.
    #[error("use the address {0}: it has to start with http://")]
    Address(String),
    /// Nothing answered, or the connection broke.
    #[error("reach the MCP server: {0}")]
    Unreachable(String),
    /// The server answered 401: it wants a login.
    #[error("ask the MCP server for its tools: it wants a login (401)")]
    LoginRequired,
    /// The server answered with another status that is none of success.
    #[error("ask the MCP server for its tools: it answered {status} {words}")]
    Status {
        /// The HTTP status.
        status: u16,
        /// The beginning of the body.
        words: String,
    },
    /// The server answered with a JSON-RPC error.
    #[error("ask the MCP server for {method}: error {code}: {message}")]
    Refused {
        /// The method that it refused.
        method: &'static str,
        /// The JSON-RPC error code.
        code: i64,
        /// The server's words.
        message: String,
    },
    /// What the server answered is not what the protocol says.
    #[error("understand the MCP server: {0}")]
    Protocol(String),
    /// The server did not answer in time.
    #[error("ask the MCP server for its tools within {} s", .0.as_secs_f32())]
    TimedOut(Duration),
}
