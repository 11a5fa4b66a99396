//! Which limits can be enforced here.

use mcproctor_proto::assignment::{Resources, SandboxLevel};

use super::enforced::Enforced;

/// Which of the limits in `resources` are not enforced at `level` on this machine, for people. Tries it, and blocks for some
/// milliseconds. Containers are made of `image`.
pub fn not_enforced(level: SandboxLevel, image: &str, resources: &Resources) -> Vec<String> {
    let enforced = enforced(level, image, resources);
    let all = [
        ("memoryMb", resources.memory_bytes.is_some(), enforced.memory),
        ("processes", resources.processes.is_some(), enforced.processes),
        ("cpus", resources.cpus.is_some(), enforced.cpus),
    ];
    all.into_iter()
        .filter(|(_, wanted, enforced)| *wanted && !enforced)
        .map(|(key, ..)| match level {
            SandboxLevel::Container => {
                format!("the limit `{key}` is not enforced: the engine cannot do it on this machine")
            }
            _ => {
                format!("the limit `{key}` is not enforced: this user can make no control group for it on this machine")
            }
        })
        .collect()
}

#[cfg(target_os = "linux")]
fn enforced(level: SandboxLevel, image: &str, resources: &Resources) -> Enforced {
    if level == SandboxLevel::Container && *resources != Resources::default() {
        // Without an engine there is no attempt to limit.
        let ready = crate::sandbox::container::ready(image);
        let all = Enforced {
            memory: true,
            processes: true,
            cpus: true,
        };
        return ready.map_or(all, |ready| ready.enforced());
    }
    let name = format!("mcproctor-try-{:016x}", rand::random::<u64>());
    let group = super::group::Group::make(&name, resources);
    let mut enforced = group.enforced();
    enforced.processes |= level > SandboxLevel::Process && process_limit(level, resources).is_some();
    enforced
}

#[cfg(not(target_os = "linux"))]
fn enforced(_level: SandboxLevel, _image: &str, _resources: &Resources) -> Enforced {
    Enforced::default()
}

/// The number of processes that the agent's user may have, for where no group counts them (setrlimit(2), RLIMIT_NPROC).
///
/// A root user is not bound by it. In a user namespace only what is in it counts (user_namespaces(7)); elsewhere everything
/// that the user runs does, so what runs now is added.
#[cfg(target_os = "linux")]
pub(in crate::sandbox) fn process_limit(level: SandboxLevel, resources: &Resources) -> Option<u64> {
    let limit = u64::from(resources.processes?);
    if rustix::process::geteuid().is_root() {
        return None;
    }
    match level {
        // An engine counts by itself.
        SandboxLevel::Process | SandboxLevel::Container => None,
        SandboxLevel::Landlock => Some(limit + tasks_of(rustix::process::geteuid().as_raw())),
        SandboxLevel::Bubblewrap => Some(limit),
    }
}

/// Processes and threads of a user.
#[cfg(target_os = "linux")]
fn tasks_of(user: u32) -> u64 {
    use std::os::unix::fs::MetadataExt as _;
    let processes = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let theirs = processes.filter(|process| process.metadata().is_ok_and(|meta| meta.uid() == user));
    let tasks =
        theirs.map(|process| std::fs::read_dir(process.path().join("task")).map_or(0, |tasks| tasks.count() as u64));
    tasks.sum()
}
