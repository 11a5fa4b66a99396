//! Why an agent cannot be driven.

use std::path::PathBuf;

use mcproctor_proto::agent::AgentKind;
use thiserror::Error;

/// Why an agent cannot be driven.
#[derive(Debug, Error)]
pub enum AgentError {
    /// The program is nowhere in `PATH`.
    #[error("find `{program}` in PATH; {hint}")]
    NotFound {
        /// The program's name.
        program: String,
        /// What to do about it.
        hint: String,
    },
    /// A variable that names the program points to something that cannot be run.
    #[error("run `{path}`, which {variable} names: {reason}")]
    BadOverride {
        /// The environment variable.
        variable: &'static str,
        /// Its value.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// The program did not say which version it is.
    #[error("learn the version of `{program}`: {reason}")]
    NoVersion {
        /// The program.
        program: PathBuf,
        /// What happened instead.
        reason: String,
    },
    /// The program is older than what the driver was tested with.
    #[error("use {kind} {found}: at least {minimum} is needed; {hint}")]
    TooOld {
        /// The agent.
        kind: AgentKind,
        /// The version found.
        found: String,
        /// The tested minimum.
        minimum: String,
        /// What to do about it.
        hint: String,
    },
    /// The configuration asks for something that this agent cannot do.
    #[error("run agent `{agent}`: {reason}")]
    Unsupported {
        /// The configured name.
        agent: String,
        /// What does not fit.
        reason: String,
    },
    /// A later turn was asked for, but the conversation cannot be gone on with.
    #[error("continue the conversation of agent `{agent}`: {reason}")]
    NotResumable {
        /// The configured name.
        agent: String,
        /// Why not.
        reason: String,
    },
}
