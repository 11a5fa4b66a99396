//! The second pass: ranges, paths, addresses and credentials.

mod agent;
mod base_url;
mod command;
mod context;
mod credential;
mod env;
mod gateway;
mod gateway_file;
mod header;
mod judge;
mod mcp;
mod path;
mod run;
mod sandbox;
mod whole;

pub(super) use context::Context;
pub(super) use gateway_file::resolve_gateway_file;
pub(super) use path::resolve_path;
pub(super) use run::{CONCURRENCY, ITERATIONS};
pub(super) use whole::resolve;
