//! Why a process could not be shut in.

use std::io;
use std::path::PathBuf;

/// Why a process could not be shut in, for people: fits after "failed to".
#[derive(Debug, thiserror::Error)]
pub(super) enum InsideError {
    #[error("read the plan of the sandbox: {0}")]
    Plan(#[from] serde_json::Error),
    #[error("keep files of the worker from the agent: {0}")]
    Descriptors(io::Error),
    #[error("let Landlock confine it to {path}: {why}", path = path.display())]
    Path { path: PathBuf, why: String },
    #[error("let Landlock confine it: {0}")]
    Landlock(String),
    #[error("let Landlock confine it: the kernel enforces only a part of the rules")]
    Partial,
    #[error("give up capabilities: {0}")]
    Capabilities(io::Error),
    #[error("filter system calls: {0}")]
    Filter(String),
    #[error("start {program}: {source}", program = program.display())]
    Start { program: PathBuf, source: io::Error },
}
