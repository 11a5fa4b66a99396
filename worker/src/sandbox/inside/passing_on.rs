//! Passing signals on to the agent, or to whoever passes them on.

use std::io;
use std::sync::atomic::{AtomicI32, Ordering};

use rustix::process::Pid;

/// Whom signals are passed on to.
static WHOM: AtomicI32 = AtomicI32::new(0);

/// Signals that people and systems send to what they want to end, or to tell something.
const PASSED_ON: [libc::c_int; 6] = [
    libc::SIGTERM,
    libc::SIGINT,
    libc::SIGHUP,
    libc::SIGQUIT,
    libc::SIGUSR1,
    libc::SIGUSR2,
];

/// Passes signals on to `process` from now on.
pub(super) fn to(process: Pid) -> io::Result<()> {
    WHOM.store(process.as_raw_pid(), Ordering::SeqCst);
    for signal in PASSED_ON {
        let handler = pass_on as extern "C" fn(libc::c_int);
        // SAFETY: the handler only makes calls that are async-signal-safe.
        if unsafe { libc::signal(signal, handler as libc::sighandler_t) } == libc::SIG_ERR {
            return Err(io::Error::last_os_error());
        }
    }
    Ok(())
}

/// Keeps them from now on: the process is over, and its number may become another's.
pub(super) fn to_nobody() {
    WHOM.store(0, Ordering::SeqCst);
}

extern "C" fn pass_on(signal: libc::c_int) {
    let whom = WHOM.load(Ordering::SeqCst);
    if whom > 0 {
        // SAFETY: the call is given no pointer, and is async-signal-safe.
        unsafe { libc::kill(whom, signal) };
    }
}
