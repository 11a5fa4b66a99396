//! Who stays beside the worker while the agent is in a container.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{self, Read as _, Write as _};
use std::net::Shutdown;
use std::os::fd::AsRawFd as _;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::net::{UnixListener, UnixStream};
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::Pid;

use super::error::InsideError;
use super::handover::Handover;
use super::passing_on;
use crate::sandbox::counted::{Counted, Event};
use crate::sandbox::plan::{Entrance, Kind, Plan};
use crate::sandbox::word::Word;

/// Between two looks at whether the engine's command has given up.
const POLL: Timespec = Timespec {
    tv_sec: 0,
    tv_nsec: 20_000_000,
};

/// How long the engine may take to start a container. Shorter than any agent may be silent, so that it is not the agent's fault.
const START: Duration = Duration::from_secs(30);

/// How long the engine's command may take to close its standard error once it is over.
const LAST_LINES: Duration = Duration::from_secs(1);

/// The most that is kept of what the engine complains about, in bytes.
const LONGEST: u64 = 16 * 1024;

/// Has a container started, hands `command` over to its first process, and waits for that to say how the agent ended.
pub(super) fn hold(
    plan: &Plan,
    entrance: &Entrance,
    command: &[OsString],
    channel: &UnixStream,
) -> Result<Word, InsideError> {
    let listener = listen(entrance).map_err(InsideError::Way)?;
    let standing = OpenOptions::new()
        .append(true)
        .open(&entrance.standing)
        .and_then(|file| file.lock_shared().map(|()| file))
        .map_err(InsideError::Supervise)?;
    let mut engine = Engine::start(entrance, &standing)?;
    let Some(inner) = engine.await_its_process(&listener, channel)? else {
        return Ok(ended_by_the_worker());
    };
    // The agent is not to meet anybody there.
    drop(listener);
    let _ = fs::remove_file(&entrance.socket);
    let process = process_of(&inner).map_err(InsideError::Handover)?;
    let [kills, refusals] =
        [Event::MemoryKill, Event::ProcessRefused].map(|event| Counted::around(event, process.as_raw_pid()));
    passing_on::to(process).map_err(InsideError::Supervise)?;
    let handover = Handover {
        plan: Plan {
            kind: Kind::Namespaces,
            ..plan.clone()
        },
        command: command.to_vec(),
        environment: std::env::vars_os().collect(),
    };
    handover.send(&inner).map_err(InsideError::Handover)?;
    let (mut out_of_memory, mut out_of_processes) = (false, false);
    let heard = listen_to_both(&inner, channel, || {
        (out_of_memory, out_of_processes) = (kills.has_grown(), refusals.has_grown());
    });
    passing_on::to_nobody();
    let word = match heard {
        Heard::Word(Word::Ended {
            code,
            signal,
            leftovers,
            ..
        }) => Word::Ended {
            code,
            signal,
            leftovers,
            out_of_memory,
            out_of_processes,
        },
        Heard::Word(failed) => failed,
        Heard::Nothing { sent_home: true } => ended_by_the_worker(),
        Heard::Nothing { .. } => return Err(InsideError::Lost),
    };
    // Its first process is over, so the engine removes the container.
    (&standing).write_all(b"ended\n").map_err(InsideError::Supervise)?;
    Ok(word)
}

fn ended_by_the_worker() -> Word {
    Word::Ended {
        code: None,
        signal: Some(libc::SIGKILL),
        leftovers: 0,
        out_of_memory: false,
        out_of_processes: false,
    }
}

/// A socket's path has room for 108 bytes (unix(7)), fewer than a folder's may have; through its descriptor it is short.
fn listen(entrance: &Entrance) -> io::Result<UnixListener> {
    let socket = &entrance.socket;
    let (Some(folder), Some(name)) = (socket.parent(), socket.file_name()) else {
        return Err(io::ErrorKind::InvalidInput.into());
    };
    // That of an earlier turn, which never came to anything.
    let _ = fs::remove_file(socket);
    let folder = File::open(folder)?;
    let mut short = OsString::from(format!("/proc/self/fd/{}/", folder.as_raw_fd()));
    short.push(name);
    let listener = UnixListener::bind(short)?;
    fs::set_permissions(socket, Permissions::from_mode(0o666))?;
    listener.set_nonblocking(true)?;
    Ok(listener)
}

/// The engine's command while it runs. It stays when this process ends, until the container is removed.
struct Engine {
    command: Child,
    complaint: Receiver<String>,
}

impl Engine {
    fn start(entrance: &Entrance, standing: &File) -> Result<Self, InsideError> {
        let mut command = Command::new(&entrance.engine);
        command
            .args(&entrance.args)
            .env_clear()
            .envs(&entrance.environment)
            // Nothing by which it could be taken for one of the agent's processes.
            .current_dir("/")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped());
        let lock = standing.as_raw_fd();
        // SAFETY: the closure runs between fork and exec and makes two system calls, which are async-signal-safe.
        unsafe {
            command.pre_exec(move || {
                rustix::process::setsid()?;
                // The lock is held for as long as the command runs.
                match libc::fcntl(lock, libc::F_SETFD, 0) {
                    -1 => Err(io::Error::last_os_error()),
                    _ => Ok(()),
                }
            });
        }
        let mut command = command
            .spawn()
            .map_err(|error| InsideError::Engine(format!("{}: {error}", entrance.engine.display())))?;
        let (teller, complaint) = mpsc::channel();
        if let Some(stderr) = command.stderr.take() {
            let read = move || {
                let mut bytes = Vec::new();
                let _ = stderr.take(LONGEST).read_to_end(&mut bytes);
                let _ = teller.send(String::from_utf8_lossy(&bytes).trim().to_owned());
            };
            thread::Builder::new().spawn(read).map_err(InsideError::Supervise)?;
        }
        Ok(Self { command, complaint })
    }

    /// The connection of the container's first process; none when the worker wants an end before there is one.
    fn await_its_process(
        &mut self,
        listener: &UnixListener,
        channel: &UnixStream,
    ) -> Result<Option<UnixStream>, InsideError> {
        let begun = Instant::now();
        loop {
            let mut waited_for = [
                PollFd::new(listener, PollFlags::IN),
                PollFd::new(channel, PollFlags::IN),
            ];
            let _ = poll(&mut waited_for, Some(&POLL));
            let worker_is_gone = !waited_for[1].revents().is_empty();
            if let Ok((inner, _)) = listener.accept() {
                inner.set_nonblocking(false).map_err(InsideError::Handover)?;
                return Ok(Some(inner));
            }
            if worker_is_gone {
                // A container that comes up all the same finds nobody, and ends.
                let _ = self.command.kill();
                let _ = self.command.wait();
                return Ok(None);
            }
            if begun.elapsed() > START {
                let _ = self.command.kill();
                let seconds = START.as_secs();
                return Err(InsideError::Engine(format!(
                    "the engine did not do it in {seconds} seconds"
                )));
            }
            if let Ok(Some(status)) = self.command.try_wait() {
                let complaint = self.complaint.recv_timeout(LAST_LINES).unwrap_or_default();
                let why = if complaint.is_empty() {
                    status.to_string()
                } else {
                    complaint
                };
                return Err(InsideError::Engine(why));
            }
        }
    }
}

/// The number of the process at the other end, as it is seen here.
fn process_of(stream: &UnixStream) -> io::Result<Pid> {
    Ok(rustix::net::sockopt::socket_peercred(stream)?.pid)
}

/// What came of the container's first process.
enum Heard {
    Word(Word),
    /// It is gone without a word.
    Nothing {
        /// Whether the worker wanted that.
        sent_home: bool,
    },
}

/// Waits until the container's first process is over. Passes on that the worker wants an end, or is gone. That process waits
/// for an end of its own after its word, so that the container is still there at `last_look`.
fn listen_to_both(mut inner: &UnixStream, channel: &UnixStream, last_look: impl FnOnce()) -> Heard {
    let mut last_look = Some(last_look);
    let mut text = Vec::new();
    let mut sent_home = false;
    loop {
        let mut waited_for = vec![PollFd::new(inner, PollFlags::IN)];
        if !sent_home {
            waited_for.push(PollFd::new(channel, PollFlags::IN));
        }
        // A signal was passed on; or else both are as they were.
        if poll(&mut waited_for, None).is_err() {
            continue;
        }
        let (spoken, hung_up) = (
            !waited_for[0].revents().is_empty(),
            waited_for.get(1).is_some_and(|fd| !fd.revents().is_empty()),
        );
        if hung_up {
            sent_home = true;
            let _ = inner.shutdown(Shutdown::Write);
        }
        if spoken {
            let mut some = [0; 4096];
            match inner.read(&mut some) {
                Ok(0) => break,
                Ok(count) => text.extend_from_slice(some.get(..count).unwrap_or_default()),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(_) => break,
            }
            if text.contains(&b'\n')
                && let Some(look) = last_look.take()
            {
                look();
                let _ = inner.shutdown(Shutdown::Write);
            }
        }
    }
    let first = text.split(|&byte| byte == b'\n').next().unwrap_or_default();
    serde_json::from_slice(first).map_or(Heard::Nothing { sent_home }, Heard::Word)
}
