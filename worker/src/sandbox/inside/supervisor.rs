//! Seeing that nothing outlives the agent, and the agent not its worker.

use std::collections::BTreeSet;
use std::io::{self, Read as _};
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, WaitOptions, WaitStatus, getpid, kill_process, wait};

use super::passing_on;
use crate::sandbox::tree::descendants;
use crate::sandbox::word::Word;

/// How long it goes on killing what goes on starting more.
const PATIENCE: Duration = Duration::from_secs(10);

/// Whether the worker is gone, or wants an end.
static OVER: AtomicBool = AtomicBool::new(false);

/// Who stays with the agent to its end.
pub(super) struct Supervisor {
    agent: Pid,
}

impl Supervisor {
    /// Passes signals on to `agent` from now on, and ends it when the worker closes its end of the channel.
    pub(super) fn of(agent: Pid, channel: UnixStream) -> io::Result<Self> {
        passing_on::to(agent)?;
        let watch = move || {
            let mut channel = channel;
            // The worker says nothing on it: it ends with the worker, or when that has had enough.
            while channel.read(&mut [0; 64]).is_ok_and(|read| read > 0) {}
            OVER.store(true, Ordering::SeqCst);
            let _ = kill_process(agent, Signal::KILL);
        };
        thread::Builder::new().stack_size(64 * 1024).spawn(watch)?;
        Ok(Self { agent })
    }

    /// Buries whatever dies until the agent does, then ends what is left of it.
    pub(super) fn stay(self) -> Word {
        let status = loop {
            match wait(WaitOptions::empty()) {
                Ok(Some((pid, status))) if pid == self.agent => break Some(status),
                Ok(_) | Err(rustix::io::Errno::INTR) => {}
                // No child at all: somebody else has buried the agent.
                Err(_) => break None,
            }
        };
        passing_on::to_nobody();
        let leftovers = end_the_rest();
        Word::Ended {
            code: status.and_then(WaitStatus::exit_status),
            signal: status.and_then(WaitStatus::terminating_signal),
            leftovers: if OVER.load(Ordering::SeqCst) { 0 } else { leftovers },
            out_of_memory: false,
            out_of_processes: false,
        }
    }
}

/// Ends all children and what they started. Returns how many processes that were.
fn end_the_rest() -> usize {
    let begun = Instant::now();
    let mut killed = BTreeSet::new();
    loop {
        match wait(WaitOptions::NOHANG) {
            // Everything that lost its parent came here, so without a child nothing is left.
            Err(rustix::io::Errno::CHILD) => return killed.len(),
            Ok(Some(_)) => continue,
            _ => {}
        }
        if begun.elapsed() > PATIENCE {
            return killed.len();
        }
        for pid in descendants(getpid().as_raw_pid()) {
            if let Some(pid) = Pid::from_raw(pid) {
                let _ = kill_process(pid, Signal::KILL);
            }
            killed.insert(pid);
        }
        thread::sleep(Duration::from_millis(1));
    }
}
