//! Why a process could not be shut in.

use std::io;
use std::path::PathBuf;

/// Why a process could not be shut in, for people: fits after "failed to".
#[derive(Debug, thiserror::Error)]
pub(super) enum InsideError {
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
    #[error("open the way to the proxies and the relay: {0}")]
    Way(io::Error),
    #[error("stay with the agent: {0}")]
    Supervise(io::Error),
    #[error("limit what it uses: {0}")]
    Limits(io::Error),
    #[error("filter system calls: {0}")]
    Filter(String),
    #[error("start a container: {0}")]
    Engine(String),
    #[error("hand the container over to the agent: {0}")]
    Handover(io::Error),
    #[error("hold the agent: its container was ended from outside, or by the kernel")]
    Lost,
    #[error("start {program}: {source}", program = program.display())]
    Start { program: PathBuf, source: io::Error },
}
