//! Limits that a process lays on itself and on what it starts (setrlimit(2)).

use std::io;

use rustix::process::{Resource, Rlimit, setrlimit};

use crate::sandbox::plan::OwnLimits;

/// Lays them on for good: the hard limit is lowered as well, and whoever has no privilege cannot raise it.
pub(super) fn lay_on(limits: &OwnLimits) -> io::Result<()> {
    let given = [
        (Resource::Fsize, limits.file_bytes),
        (Resource::Nproc, limits.processes),
        (Resource::Core, Some(0)),
    ];
    // A write past the limit is to fail, not to end the program (setrlimit(2), RLIMIT_FSIZE). What is ignored stays so in what
    // it starts.
    // SAFETY: no handler is installed.
    unsafe { libc::signal(libc::SIGXFSZ, libc::SIG_IGN) };
    for (resource, limit) in given {
        if let Some(limit) = limit {
            setrlimit(
                resource,
                Rlimit {
                    current: Some(limit),
                    maximum: Some(limit),
                },
            )?;
        }
    }
    Ok(())
}
