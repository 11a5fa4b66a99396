//! Puts a stdio MCP server behind a local Streamable HTTP endpoint.
//!
//! One bridge owns one child, for one iteration. Agents start a new process a turn, so several HTTP clients talk to the
//! same child, one after another or at once:
//!
//! - The first `initialize` goes to the child and its result is kept. Every later one is answered from it, under a
//!   session of its own: the child serves one connection and has agreed on one protocol version with the first client's
//!   capabilities. A client that asked for another version is offered the agreed one, as version negotiation allows, and
//!   decides. `notifications/initialized` reaches the child once.
//! - Request ids and progress tokens are replaced by the bridge's own on the way in and restored, byte for byte, on the
//!   way out; nothing else of a message changes.
//! - What the child asks or announces on its own goes to the newest open POST stream, else to the newest GET stream, else
//!   it waits for the next stream.
//! - Requests without a session that carry their protocol version (2026-07-28) pass as they are; when their client leaves,
//!   the child is told by `notifications/cancelled`, because leaving means cancelling in that revision.

mod child;
mod error;
mod http;
mod lines;
mod log;
mod message;
mod reply;
mod router;
mod server;
mod switchboard;

pub use error::BridgeError;
pub use server::{Bridge, BridgeOptions, Mark};
