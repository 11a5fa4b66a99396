//! What holds an agent.
//!
//! [`ProcessSandbox`] is the level `process`: a fresh home and work folder, an environment from nothing, and a process
//! tree that is killed whole. A [`RunningProcess`] writes to files and is read from them, so no descendant that keeps a
//! pipe open can hold an attempt up.

mod error;
mod folder;
#[cfg(target_os = "linux")]
mod memory;
mod process;
mod running;
mod tail;
mod tree;

pub use error::SandboxError;
pub use process::{Limits, OutputFiles, ProcessSandbox, Spec};
pub use running::{Output, ProcessEnd, RunningProcess};
pub(crate) use tree::{MARKER, Marks};
