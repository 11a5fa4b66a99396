//! `mcproctor minimal-agent`: the built-in agent, started by a worker like any other command line.

use std::process::ExitCode;

use mcproctor_worker::agent::{MinimalArgs, minimal_agent};

/// Arguments of `mcproctor minimal-agent`.
pub(super) type MinimalAgentArgs = MinimalArgs;

pub(super) fn run(args: MinimalAgentArgs) -> ExitCode {
    // One conversation at a time: a single thread starts faster and needs less.
    match tokio::runtime::Builder::new_current_thread().enable_all().build() {
        Ok(runtime) => ExitCode::from(u8::try_from(runtime.block_on(minimal_agent(args))).unwrap_or(1)),
        Err(_) => ExitCode::FAILURE,
    }
}
