//! Why a sandbox failed. Always our machinery's fault, never the agent's.

use std::io;
use std::path::PathBuf;

use thiserror::Error;

/// Why a sandbox failed.
#[derive(Debug, Error)]
pub enum SandboxError {
    /// A folder could not be made, or its rights not be set.
    #[error("make the folder {path}: {source}")]
    Folder {
        /// The folder.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A file could not be opened, written or read.
    #[error("use the file {path}: {source}")]
    File {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A file was asked for outside the sandbox.
    #[error("write {path}: it lies outside the sandbox")]
    Outside {
        /// The file.
        path: PathBuf,
    },
    /// The program could not be started.
    #[error("start {program}: {source}")]
    Start {
        /// The program.
        program: PathBuf,
        /// Why.
        source: io::Error,
    },
}
