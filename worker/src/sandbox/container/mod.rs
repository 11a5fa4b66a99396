//! The level `container`: docker or podman, without a network.
//!
//! The engine is used by its command, which is the stable interface of both. It is told nothing about the agent: the worker's own
//! program goes in first, and is handed the command line, the environment and the open streams over a Unix socket. So nothing of
//! them stands in the container's record, and what the agent prints takes the same short way as at the other levels.

mod arguments;
mod engine;
mod ready;
mod room;
mod standing;

pub(super) use ready::{Ready, describe, ready};
pub(super) use room::Container;
pub(super) use standing::remove_named;
