//! The command that shuts itself in.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read as _};
use std::os::fd::{AsRawFd as _, FromRawFd as _, OwnedFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::Duration;

use rustix::process::{Pid, Signal, set_child_subreaper, set_parent_process_death_signal};

use super::error::InsideError;
use super::handover::Handover;
use super::supervisor::Supervisor;
use super::{capabilities, carry, filter, inherited, landlock, limits, outpost};
use crate::descriptors;
use crate::sandbox::landlock::Sockets;
use crate::sandbox::plan::{Kind, Plan};
use crate::sandbox::secrecy::keep_to_itself;
use crate::sandbox::word::{self, Word};

/// The exit code for "could not be started" that shells use as well.
const NOT_STARTED: u8 = 126;

/// How long the outpost may take for a last look.
const LAST_LOOK: Duration = Duration::from_secs(2);

/// What `mcproctor sandboxed` is started with, by a worker.
#[derive(clap::Args, Clone, Debug)]
pub struct SandboxedArgs {
    /// The plan, as JSON.
    #[arg(long, required_unless_present = "entrance", requires = "command")]
    plan: Option<String>,
    /// In a container: the Unix socket over which plan and program are handed over.
    #[arg(long, conflicts_with_all = ["plan", "command"])]
    entrance: Option<PathBuf>,
    /// The agent's program and its arguments.
    #[arg(last = true)]
    command: Vec<OsString>,
}

/// The agent's program, and what it is given.
struct Program {
    command: Vec<OsString>,
    /// Its environment, where that is not this process's own.
    environment: Option<Vec<(OsString, OsString)>>,
}

/// Starts the program confined as the plan says, and stays to see that nothing of it outlives it or the worker.
///
/// To be called before the process has a second thread.
pub fn sandboxed(args: &SandboxedArgs) -> ExitCode {
    let (plan, program, channel) = match (&args.plan, &args.entrance) {
        (Some(plan), _) => {
            let Ok(plan) = serde_json::from_str::<Plan>(plan) else {
                return ExitCode::from(NOT_STARTED);
            };
            // SAFETY: the worker has opened this descriptor for us, and nothing else in this process knows of it.
            let channel = UnixStream::from(unsafe { OwnedFd::from_raw_fd(plan.channel) });
            let program = Program {
                command: args.command.clone(),
                environment: None,
            };
            (plan, program, channel)
        }
        (None, Some(entrance)) => match enter(entrance) {
            Ok(entered) => entered,
            // Nobody is there any more: the container ends with this process.
            Err(_) => return ExitCode::from(NOT_STARTED),
        },
        (None, None) => return ExitCode::from(NOT_STARTED),
    };
    match run(&plan, &program, &channel) {
        Ok(word) => {
            word::say(&channel, &word);
            if args.entrance.is_some() {
                await_leave(&channel);
            }
            ExitCode::SUCCESS
        }
        Err(error) => {
            word::say(&channel, &Word::Failed(format!("failed to {error}")));
            ExitCode::from(NOT_STARTED)
        }
    }
}

/// Takes over from the outpost, as the first process of a container.
fn enter(entrance: &Path) -> io::Result<(Plan, Program, UnixStream)> {
    // The agent is of the same user here. It is not to get at the channel through this process's memory.
    keep_to_itself()?;
    let channel = UnixStream::connect(entrance)?;
    let told = Handover::receive(&channel)?;
    let program = Program {
        command: told.command,
        environment: Some(told.environment),
    };
    Ok((told.plan, program, channel))
}

/// Waits until the outpost has seen what the container used, which is gone with this process.
fn await_leave(mut channel: &UnixStream) {
    let _ = channel.set_read_timeout(Some(LAST_LOOK));
    let _ = channel.read(&mut [0]);
}

fn run(plan: &Plan, program: &Program, channel: &UnixStream) -> Result<Word, InsideError> {
    inherited::close_on_exec().map_err(InsideError::Descriptors)?;
    if let Kind::Container(entrance) = &plan.kind {
        return outpost::hold(plan, entrance, &program.command, channel);
    }
    let ways = carry::listen(&plan.ways)?;
    // What loses its parent becomes this process's child, so nothing gets out of its sight.
    set_child_subreaper(Some(rustix::process::getpid())).map_err(|error| InsideError::Supervise(error.into()))?;
    // SAFETY: this process has one thread, so the child may do whatever a process may.
    let child = unsafe { libc::fork() };
    match child {
        -1 => Err(InsideError::Supervise(io::Error::last_os_error())),
        0 => {
            drop(ways);
            let error = become_program(plan, program);
            word::say(channel, &Word::Failed(format!("failed to {error}")));
            // SAFETY: the call ends the process, which has nothing to clean up.
            unsafe { libc::_exit(NOT_STARTED.into()) }
        }
        id => {
            let child = Pid::from_raw(id).ok_or_else(|| InsideError::Supervise(io::ErrorKind::Other.into()))?;
            let listening = channel.try_clone().map_err(InsideError::Supervise)?;
            let supervisor = Supervisor::of(child, listening).map_err(InsideError::Supervise)?;
            leave_the_streams();
            // For the connections that it carries; the agent has the limit that was found.
            descriptors::raise_limit();
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

fn become_program(plan: &Plan, program: &Program) -> InsideError {
    if let Err(error) = shut_in(plan) {
        return error;
    }
    let (path, args) = program
        .command
        .split_first()
        .map_or((PathBuf::new(), &[][..]), |(first, rest)| (first.into(), rest));
    let mut command = Command::new(&path);
    command.args(args);
    if let Some(environment) = &program.environment {
        command.env_clear().envs(environment.iter().cloned());
    }
    let source = command.exec();
    InsideError::Start { program: path, source }
}

fn shut_in(plan: &Plan) -> Result<(), InsideError> {
    set_parent_process_death_signal(Some(Signal::KILL)).map_err(|error| InsideError::Supervise(error.into()))?;
    limits::lay_on(&plan.limits).map_err(InsideError::Limits)?;
    let sockets = match &plan.kind {
        Kind::Landlock(rules) => {
            landlock::confine(rules)?;
            Sockets::OnlyTcp
        }
        Kind::Namespaces | Kind::Container(_) => Sockets::OfTheNamespace,
    };
    capabilities::give_up().map_err(InsideError::Capabilities)?;
    filter::lay_on(sockets)
}
