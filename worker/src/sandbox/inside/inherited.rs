//! Files that the worker has open and the agent is not to inherit.

use std::io;
use std::os::fd::RawFd;

/// The first descriptor that is no standard stream.
const FIRST: libc::c_uint = 3;

/// Lets every open file but the standard streams close when the next program is executed.
pub(super) fn close_on_exec() -> io::Result<()> {
    // SAFETY: the call is given no pointer; it marks descriptors and closes none.
    let result = unsafe {
        libc::syscall(
            libc::SYS_close_range,
            FIRST,
            libc::c_uint::MAX,
            libc::CLOSE_RANGE_CLOEXEC,
        )
    };
    if result == 0 {
        return Ok(());
    }
    // Kernels before 5.11 do not know the flag.
    let mut open: Vec<RawFd> = std::fs::read_dir("/proc/self/fd")?
        .flatten()
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .collect();
    open.retain(|&descriptor| descriptor >= 3);
    for descriptor in open {
        // SAFETY: the call is given no pointer, and one for a descriptor that is closed by now changes nothing.
        unsafe { libc::fcntl(descriptor, libc::F_SETFD, libc::FD_CLOEXEC) };
    }
    Ok(())
}
