//! The endpoint: from a socket to a decision and back.

mod answer;
mod observe;
mod shared;
mod start;

pub use start::{ScriptedModel, StartError};
