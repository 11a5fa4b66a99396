//! The word that what runs in a sandbox sends to its worker.

#[cfg(target_os = "linux")]
use std::io::Write as _;
use std::io::{self, Read as _};
use std::net::Shutdown;
#[cfg(target_os = "linux")]
use std::os::fd::{AsRawFd as _, OwnedFd, RawFd};
use std::os::unix::net::UnixStream;

#[cfg(target_os = "linux")]
use rustix::io::FdFlags;
use serde::{Deserialize, Serialize};
#[cfg(target_os = "linux")]
use tokio::process::Command;

/// The most that is read of a word, in bytes.
const LONGEST: u64 = 64 * 1024;

/// What is said.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum Word {
    /// The sandbox could not be set up; no agent was started.
    Failed(String),
    /// The agent is over, and so is everything in the sandbox.
    Ended {
        /// Its exit code.
        code: Option<i32>,
        /// The signal that ended it.
        signal: Option<i32>,
        /// Its descendants that were still there.
        leftovers: usize,
        /// Whether the kernel killed something of it for want of memory, as far as whoever says it can know.
        out_of_memory: bool,
        /// Whether the kernel refused it a process or a thread, as far as whoever says it can know.
        out_of_processes: bool,
    },
}

/// The worker's end. Closing it tells what runs in the sandbox that its worker is gone.
#[derive(Debug)]
pub(super) struct Listener(UnixStream);

/// The sandbox's end, until it is handed over.
#[cfg(target_os = "linux")]
#[derive(Debug)]
pub(super) struct Speaker(UnixStream);

/// A connection between a worker and what it starts.
#[cfg(target_os = "linux")]
pub(super) fn channel() -> io::Result<(Listener, Speaker)> {
    let (ours, theirs) = UnixStream::pair()?;
    ours.set_nonblocking(true)?;
    Ok((Listener(ours), Speaker(theirs)))
}

impl Listener {
    /// What was said first; to be asked once nobody is left who could say more.
    pub(super) fn word(&mut self) -> Option<Word> {
        let mut text = Vec::new();
        // Ends with the other end, or where there is nothing more to read.
        let _ = (&mut self.0).take(LONGEST).read_to_end(&mut text);
        let first = text.split(|&byte| byte == b'\n').next()?;
        serde_json::from_slice(first).ok()
    }

    /// Tells what runs in the sandbox to end, and everything with it. What it has to say can still be heard.
    pub(super) fn hang_up(&self) {
        let _ = self.0.shutdown(Shutdown::Write);
    }
}

/// Says `word`, on a line of its own.
#[cfg(target_os = "linux")]
pub(super) fn say(mut channel: &UnixStream, word: &Word) {
    if let Ok(mut text) = serde_json::to_vec(word) {
        text.push(b'\n');
        // A worker that is gone does not want to know.
        let _ = channel.write_all(&text);
    }
}

#[cfg(target_os = "linux")]
impl Speaker {
    /// The descriptor's number, here and in the program that it is handed to.
    pub(super) fn number(&self) -> RawFd {
        self.0.as_raw_fd()
    }

    /// Lets `command` inherit this end. It is closed here when the command is dropped.
    pub(super) fn hand_over(self, command: &mut Command) {
        let descriptor = OwnedFd::from(self.0);
        // SAFETY: the closure runs between fork and exec and makes one system call, which is async-signal-safe.
        unsafe {
            // Open in this child alone: those that other threads start at the same time do not inherit it.
            command.pre_exec(move || rustix::io::fcntl_setfd(&descriptor, FdFlags::empty()).map_err(Into::into));
        }
    }
}
