//! A small MCP client that asks a server for its tools before a run.
//!
//! It is written by hand because it has to read what a typed client refuses: a tool whose schema is not even an object is
//! what it is looking for. It speaks Streamable HTTP over plain HTTP, to the proxy or the bridge, which know TLS and
//! credentials.

mod dialogue;
mod error;
mod exchange;
mod tool;

#[cfg(test)]
mod tests;

pub use dialogue::{Probe, probe};
pub use error::ProbeError;
pub use tool::Tool;
