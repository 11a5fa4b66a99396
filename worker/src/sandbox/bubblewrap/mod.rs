//! The level `bubblewrap`: namespaces of its own, without a network.

mod arguments;
mod etc;
mod ready;
mod room;
mod way;

pub(super) use ready::{describe, ready};
pub(super) use room::Bubblewrap;
