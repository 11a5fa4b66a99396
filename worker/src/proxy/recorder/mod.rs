//! The recorder: a thread that takes copies in order and turns them into records.

mod listen;
mod scribe;
mod thread;

pub use thread::Recorded;
pub use thread::Snapshot;
pub(in crate::proxy) use thread::{Recorder, RecorderThread};
