//! The level `bubblewrap`: namespaces of its own, without a network.

mod arguments;
mod ready;
mod room;

pub(super) use ready::{describe, ready};
pub(super) use room::Bubblewrap;
