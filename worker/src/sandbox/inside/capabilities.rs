//! Giving up every capability, so that an agent under a root user is no administrator.

use std::io;

use rustix::thread::{CapabilitySet, CapabilitySets, clear_ambient_capability_set, set_capabilities};

/// The highest number that a set of capabilities has room for (capabilities(7)).
const LAST: libc::c_ulong = 63;

/// Drops them all, from the bounding set as well. With no new privileges, which has to be set, none comes back: a program
/// executed by root gains nothing beyond what its process had (capabilities(7), "no_new_privs").
pub(super) fn give_up() -> io::Result<()> {
    for number in 0..=LAST {
        // SAFETY: the call is given no pointer.
        let dropped = unsafe { libc::prctl(libc::PR_CAPBSET_DROP, number, 0, 0, 0) };
        if dropped != 0 {
            let error = io::Error::last_os_error();
            match error.raw_os_error() {
                // Past the last one that this kernel knows.
                Some(libc::EINVAL) => break,
                // A user without capabilities cannot shrink the set, and has none to lose.
                Some(libc::EPERM) => break,
                _ => return Err(error),
            }
        }
    }
    match clear_ambient_capability_set() {
        // Kernels before 4.3 have none.
        Err(rustix::io::Errno::INVAL) | Ok(()) => {}
        Err(error) => return Err(error.into()),
    }
    let none = CapabilitySet::empty();
    set_capabilities(
        None,
        CapabilitySets {
            effective: none,
            permitted: none,
            inheritable: none,
        },
    )?;
    Ok(())
}
