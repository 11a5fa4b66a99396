//! The command that shuts itself in.

use std::ffi::OsString;
use std::fs::File;
use std::os::fd::{AsRawFd as _, FromRawFd as _, OwnedFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::{Command, ExitCode};

use rustix::process::{Pid, Signal, set_child_subreaper, set_parent_process_death_signal};

use super::error::InsideError;
use super::supervisor::Supervisor;
use super::{capabilities, carry, descriptors, filter, landlock, limits};
use crate::sandbox::landlock::Sockets;
use crate::sandbox::plan::{Kind, Plan};
use crate::sandbox::word::{self, Word};

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
    command: Vec<OsString>,
}

/// Starts the program confined as the plan says, and stays to see that nothing of it outlives it or the worker.
///
/// To be called before the process has a second thread.
pub fn sandboxed(args: &SandboxedArgs) -> ExitCode {
    let Ok(plan) = serde_json::from_str::<Plan>(&args.plan) else {
        return ExitCode::from(NOT_STARTED);
    };
    // SAFETY: the worker has opened this descriptor for us, and nothing else in this process knows of it.
    let channel = UnixStream::from(unsafe { OwnedFd::from_raw_fd(plan.channel) });
    match run(&plan, &args.command, &channel) {
        Ok(word) => {
            word::say(&channel, &word);
            ExitCode::SUCCESS
        }
        Err(error) => {
            word::say(&channel, &Word::Failed(format!("failed to {error}")));
            ExitCode::from(NOT_STARTED)
        }
    }
}

fn run(plan: &Plan, command: &[OsString], channel: &UnixStream) -> Result<Word, InsideError> {
    descriptors::close_on_exec().map_err(InsideError::Descriptors)?;
    let ways = carry::listen(&plan.ways)?;
    // What loses its parent becomes this process's child, so nothing gets out of its sight.
    set_child_subreaper(Some(rustix::process::getpid())).map_err(|error| InsideError::Supervise(error.into()))?;
    // SAFETY: this process has one thread, so the child may do whatever a process may.
    let child = unsafe { libc::fork() };
    match child {
        -1 => Err(InsideError::Supervise(std::io::Error::last_os_error())),
        0 => {
            drop(ways);
            let error = become_program(plan, command);
            word::say(channel, &Word::Failed(format!("failed to {error}")));
            // SAFETY: the call ends the process, which has nothing to clean up.
            unsafe { libc::_exit(NOT_STARTED.into()) }
        }
        id => {
            let child = Pid::from_raw(id).ok_or_else(|| InsideError::Supervise(std::io::ErrorKind::Other.into()))?;
            let listening = channel.try_clone().map_err(InsideError::Supervise)?;
            let supervisor = Supervisor::of(child, listening).map_err(InsideError::Supervise)?;
            leave_the_streams();
            carry::carry(ways);
            Ok(supervisor.stay())
        }
    }
}

/// The streams are the agent's. Where this process held on to its standard input, nobody would see that it was closed.
fn leave_the_streams() {
    if let Ok(nowhere) = File::options().read(true).write(true).open("/dev/null") {
        for stream in [libc::STDIN_FILENO, libc::STDOUT_FILENO, libc::STDERR_FILENO] {
            // SAFETY: both are open descriptors of this process, and nothing of it uses the streams.
            unsafe { libc::dup2(nowhere.as_raw_fd(), stream) };
        }
    }
}

fn become_program(plan: &Plan, command: &[OsString]) -> InsideError {
    if let Err(error) = shut_in(plan) {
        return error;
    }
    let (program, args) = command
        .split_first()
        .map_or((PathBuf::new(), &[][..]), |(first, rest)| (first.into(), rest));
    let source = Command::new(&program).args(args).exec();
    InsideError::Start { program, source }
}

fn shut_in(plan: &Plan) -> Result<(), InsideError> {
    set_parent_process_death_signal(Some(Signal::KILL)).map_err(|error| InsideError::Supervise(error.into()))?;
    limits::lay_on(&plan.limits).map_err(InsideError::Limits)?;
    let sockets = match &plan.kind {
        Kind::Landlock(rules) => {
            landlock::confine(rules)?;
            Sockets::OnlyTcp
        }
        Kind::Namespaces => Sockets::OfTheNamespace,
    };
    capabilities::give_up().map_err(InsideError::Capabilities)?;
    filter::lay_on(sockets)
}
