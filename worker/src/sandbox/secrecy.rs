//! Keeping the worker's memory to itself.

use std::io;

/// Forbids other processes of the same user to read this one's memory, environment and open files, and the kernel to write
/// its memory to a file. Credentials of all attempts are in it. A root user with its capabilities can still read it.
///
/// # Errors
///
/// What the system said. Elsewhere than on Linux nothing is done.
pub fn keep_to_itself() -> io::Result<()> {
    #[cfg(target_os = "linux")]
    rustix::process::set_dumpable_behavior(rustix::process::DumpableBehavior::NotDumpable)?;
    Ok(())
}
