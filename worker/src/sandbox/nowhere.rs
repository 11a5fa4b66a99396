//! The command that shuts itself in, where no level does that.

use std::ffi::OsString;
use std::process::ExitCode;

/// What `mcproctor sandboxed` is started with, by a worker.
#[derive(clap::Args, Clone, Debug)]
pub struct SandboxedArgs {
    /// The plan, as JSON.
    #[arg(long)]
    plan: String,
    /// The agent's program and its arguments.
    #[arg(last = true, required = true)]
    command: Vec<OsString>,
}

/// Confines nothing, and so starts nothing.
pub fn sandboxed(_args: &SandboxedArgs) -> ExitCode {
    ExitCode::FAILURE
}
