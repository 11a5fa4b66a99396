//! How the allocator is set up.

/// Areas of the heap, between which threads are spread.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
const ARENAS: libc::c_int = 2;

/// Keeps memory flat over a long run. To be called first thing in a process.
///
/// glibc gives threads heaps of their own, up to eight for each core, and what is freed in one serves no other: reports and
/// evidence are worked on by whatever thread is free, so each heap comes to hold as much as the largest of them took. With
/// two, 10,000 iterations took 6 MB more than the first 500 (`bench/memory`); without a limit it was 8 MB every thousand.
pub fn limit_heaps() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    // SAFETY: the call changes a setting of the allocator and is given no pointer. Where it fails nothing changes.
    unsafe {
        libc::mallopt(libc::M_ARENA_MAX, ARENAS);
    }
}
