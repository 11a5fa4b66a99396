//! Seeing that nothing outlives the agent, and the agent not its worker.

use std::collections::BTreeSet;
use std::io::{self, Read as _};
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, WaitOptions, WaitStatus, getpid, kill_process, wait};

use crate::sandbox::tree::descendants;
use crate::sandbox::word::Word;

/// How long it goes on killing what goes on starting more.
const PATIENCE: Duration = Duration::from_secs(10);

/// Whom signals are passed on to.
static AGENT: AtomicI32 = AtomicI32::new(0);

/// Whether the worker is gone, or wants an end.
static OVER: AtomicBool = AtomicBool::new(false);

/// Signals that people and systems send to what they want to end, or to tell something.
const PASSED_ON: [libc::c_int; 6] = [
    libc::SIGTERM,
    libc::SIGINT,
    libc::SIGHUP,
    libc::SIGQUIT,
    libc::SIGUSR1,
    libc::SIGUSR2,
];

/// Who stays with the agent to its end.
pub(super) struct Supervisor {
    agent: Pid,
}

impl Supervisor {
    /// Passes signals on to `agent` from now on, and ends it when the worker closes its end of the channel.
    pub(super) fn of(agent: Pid, channel: UnixStream) -> io::Result<Self> {
        AGENT.store(agent.as_raw_pid(), Ordering::SeqCst);
        for signal in PASSED_ON {
            let handler = pass_on as extern "C" fn(libc::c_int);
            // SAFETY: the handler only makes calls that are async-signal-safe.
            if unsafe { libc::signal(signal, handler as libc::sighandler_t) } == libc::SIG_ERR {
                return Err(io::Error::last_os_error());
            }
        }
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
        AGENT.store(0, Ordering::SeqCst);
        let leftovers = end_the_rest();
        Word::Ended {
            code: status.and_then(WaitStatus::exit_status),
            signal: status.and_then(WaitStatus::terminating_signal),
            leftovers: if OVER.load(Ordering::SeqCst) { 0 } else { leftovers },
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

extern "C" fn pass_on(signal: libc::c_int) {
    let agent = AGENT.load(Ordering::SeqCst);
    if agent > 0 {
        // SAFETY: the call is given no pointer, and is async-signal-safe.
        unsafe { libc::kill(agent, signal) };
    }
}
