//! The command that shuts itself in.

use std::io::Write as _;
use std::os::fd::{FromRawFd as _, OwnedFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::{Command, ExitCode};

use super::error::InsideError;
use super::{capabilities, descriptors, filter, landlock};
use crate::sandbox::plan::{Kind, Plan};
use crate::sandbox::word::Word;

/// The exit code for "could not be started" that shells use as well.
const NOT_STARTED: u8 = 126;

/// What `mcproctor sandboxed` is started with, by a worker.
#[derive(clap::Args, Clone, Debug)]
pub struct SandboxedArgs {
    /// The plan, as JSON.
    #[arg(long)]
    plan: String,
    /// The agent's program and its arguments.
    #[arg(last = true, required = true)]
    command: Vec<std::ffi::OsString>,
}

/// Confines this process as the plan says and becomes the program. Returns only when it could not.
pub fn sandboxed(args: &SandboxedArgs) -> ExitCode {
    let (plan, error) = match serde_json::from_str::<Plan>(&args.plan) {
        Ok(plan) => {
            let failed = run(&plan, &args.command);
            (Some(plan), failed)
        }
        Err(error) => (None, error.into()),
    };
    if let Some(channel) = plan.and_then(|plan| plan.channel) {
        say(channel, &Word::Failed(format!("failed to {error}")));
    }
    ExitCode::from(NOT_STARTED)
}

fn run(plan: &Plan, command: &[std::ffi::OsString]) -> InsideError {
    match shut_in(plan) {
        Ok(()) => become_program(command),
        Err(error) => error,
    }
}

fn shut_in(plan: &Plan) -> Result<(), InsideError> {
    descriptors::close_on_exec().map_err(InsideError::Descriptors)?;
    match &plan.kind {
        Kind::Landlock(rules) => {
            landlock::confine(rules)?;
            capabilities::give_up().map_err(InsideError::Capabilities)?;
            filter::lay_on(rules.sockets)
        }
    }
}

fn become_program(command: &[std::ffi::OsString]) -> InsideError {
    let (program, args) = command.split_first().map_or((PathBuf::new(), &[][..]), |(first, rest)| (first.into(), rest));
    let source = Command::new(&program).args(args).exec();
    InsideError::Start { program, source }
}

fn say(channel: i32, word: &Word) {
    // SAFETY: the worker has opened this descriptor for us, and nothing else in this process knows of it.
    let mut stream = UnixStream::from(unsafe { OwnedFd::from_raw_fd(channel) });
    if let Ok(text) = serde_json::to_vec(word) {
        // A worker that is gone does not want to know.
        let _ = stream.write_all(&text);
    }
}
