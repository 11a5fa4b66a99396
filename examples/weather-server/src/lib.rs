//! A small deterministic MCP server: the weather of a few Austrian cities, always the same.
//!
//! It exists to try an evaluation end to end. Evaluating it says nothing about any other server.

mod climate;
mod http;
mod server;

pub use http::{MCP_PATH, serve};
pub use server::WeatherServer;
