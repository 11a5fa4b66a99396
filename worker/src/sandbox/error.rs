//! Why a sandbox failed. Always our machinery's fault, never the agent's.

use std::io;
use std::path::PathBuf;

use mcproctor_proto::assignment::SandboxLevel;
use thiserror::Error;

use super::ability::Unavailable;

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
    /// The level cannot be had on this machine.
    #[error("hold the agent in the sandbox `{level}`: {why}")]
    Unavailable {
        /// The level that was asked for.
        level: SandboxLevel,
        /// Why, and what would help.
        why: Unavailable,
    },
    /// What is to be done in the sandbox could not be put into words.
    #[error("describe the sandbox: {0}")]
    Plan(String),
    /// The sandbox could not be connected with its worker.
    #[error("connect the sandbox with its worker: {0}")]
    Channel(io::Error),
    /// A way to a proxy or the relay could not be opened.
    #[error("open a way to the proxies and the relay: {0}")]
    Way(io::Error),
    /// The program could not be started.
    #[error("start {program}: {source}")]
    Start {
        /// The program.
        program: PathBuf,
        /// Why.
        source: io::Error,
    },
}
