//! The recorder: a thread that takes copies in order and turns them into records.

mod listen;
mod thread;

pub use thread::{Recorded, Snapshot};
pub(in crate::proxy) use thread::{Recorder, RecorderThread};
