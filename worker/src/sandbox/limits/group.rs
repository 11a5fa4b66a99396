//! A control group for one attempt, of version 1 or 2.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use mcproctor_proto::assignment::Resources;
use rustix::process::{Pid, Signal, kill_process};
use tokio::process::Command;

use super::enforced::Enforced;
use super::mounts::{Hierarchy, hierarchies};
use crate::sandbox::counted::{Counters, Event};

/// Microseconds; a group may use so many of each of its processors' time before it waits for the next period.
const PERIOD: u64 = 100_000;

/// How long its last processes may take to disappear.
const PATIENCE: Duration = Duration::from_secs(2);

/// A group. Dropping it kills what is in it, and removes it.
#[derive(Debug)]
pub(in crate::sandbox) struct Group {
    folders: Vec<PathBuf>,
    /// Files that a process joins by.
    doors: Arc<Vec<File>>,
    enforced: Enforced,
    counters: Counters,
}

/// The folders that [`Group::make`] may make for a group called `name`. To be noted before it does: this process may be
/// killed at any time, and whoever comes after it has to find them.
pub(in crate::sandbox) fn planned_folders(name: &str, resources: &Resources) -> Vec<PathBuf> {
    if *resources == Resources::default() {
        return Vec::new();
    }
    own_hierarchies()
        .into_iter()
        .map(|hierarchy| hierarchy.folder.join(name))
        .collect()
}

impl Group {
    /// Makes a group called `name` for as many of the limits as the system lets this process enforce.
    pub(in crate::sandbox) fn make(name: &str, resources: &Resources) -> Self {
        let mut group = Self {
            folders: Vec::new(),
            doors: Arc::default(),
            enforced: Enforced::default(),
            counters: Counters::default(),
        };
        if *resources == Resources::default() {
            return group;
        }
        let mut doors = Vec::new();
        for hierarchy in own_hierarchies() {
            let folder = hierarchy.folder.join(name);
            let enforced = match &hierarchy.controllers {
                Some(controllers) => make_old(&folder, controllers, resources),
                None => make_new(&hierarchy.folder, &folder, resources),
            };
            let door = OpenOptions::new().write(true).open(folder.join("cgroup.procs"));
            match (enforced == Enforced::default(), door) {
                (false, Ok(door)) => {
                    doors.push(door);
                    group.folders.push(folder.clone());
                    group.enforced.memory |= enforced.memory;
                    group.enforced.processes |= enforced.processes;
                    group.enforced.cpus |= enforced.cpus;
                    let counter = |event: Event| folder.join(event.file(hierarchy.controllers.is_some()));
                    if enforced.memory {
                        group.counters.memory_kills = Some(counter(Event::MemoryKill));
                    }
                    if enforced.processes {
                        group.counters.processes_refused = Some(counter(Event::ProcessRefused));
                    }
                }
                _ => {
                    let _ = fs::remove_dir(&folder);
                }
            }
        }
        group.doors = Arc::new(doors);
        group
    }

    /// Which limits it enforces.
    pub(in crate::sandbox) fn enforced(&self) -> Enforced {
        self.enforced
    }

    /// Where the kernel counts what they led to.
    pub(in crate::sandbox) fn counters(&self) -> &Counters {
        &self.counters
    }

    /// Lets what `command` starts be in it, from its first instruction on.
    pub(in crate::sandbox) fn hold(&self, command: &mut Command) {
        if self.doors.is_empty() {
            return;
        }
        let doors = Arc::clone(&self.doors);
        // SAFETY: the closure runs between fork and exec and makes one system call for each file, which is async-signal-safe.
        unsafe {
            command.pre_exec(move || {
                for door in doors.iter() {
                    // A process that is told of as 0 is the one that writes (cgroups(7)).
                    rustix::io::write(door, b"0")?;
                }
                Ok(())
            });
        }
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        for folder in &self.folders {
            let _ = remove(folder);
        }
    }
}

/// Removes the groups that a worker which died had noted in `file`. Says whether all are gone.
pub(in crate::sandbox) fn remove_named(file: &Path) -> bool {
    let noted = fs::read_to_string(file).unwrap_or_default();
    // Only what looks like a group: the file lay in a folder of ours, but still.
    let groups = noted
        .lines()
        .map(Path::new)
        .filter(|folder| folder.is_absolute() && folder.join("cgroup.procs").is_file());
    // Not `all`, which would leave the rest where one stays.
    groups.filter(|folder| !remove(folder)).count() == 0
}

/// Kills what is in the group until nothing is, and removes it. Says whether it is gone.
fn remove(folder: &Path) -> bool {
    let begun = Instant::now();
    while fs::remove_dir(folder).is_err_and(|error| error.kind() != io::ErrorKind::NotFound) {
        if begun.elapsed() > PATIENCE {
            return false;
        }
        for line in fs::read_to_string(folder.join("cgroup.procs"))
            .unwrap_or_default()
            .lines()
        {
            if let Some(pid) = line.parse().ok().and_then(Pid::from_raw) {
                let _ = kill_process(pid, Signal::KILL);
            }
        }
        thread::sleep(Duration::from_millis(2));
    }
    true
}

fn own_hierarchies() -> Vec<Hierarchy> {
    let read = |file| fs::read_to_string(file).unwrap_or_default();
    hierarchies(&read("/proc/self/cgroup"), &read("/proc/self/mountinfo"))
        .into_iter()
        .filter(|hierarchy| hierarchy.folder.is_dir())
        .collect()
}

/// A group of version 1 (kernel documentation, admin-guide/cgroup-v1).
fn make_old(folder: &Path, controllers: &[String], resources: &Resources) -> Enforced {
    let has = |name: &str| controllers.iter().any(|controller| controller == name);
    let memory = resources.memory_bytes.filter(|_| has("memory"));
    let processes = resources.processes.filter(|_| has("pids"));
    let cpus = resources.cpus.filter(|_| has("cpu"));
    if (memory, processes, cpus) == (None, None, None) || fs::create_dir(folder).is_err() {
        return Enforced::default();
    }
    let set = |file: &str, value: u64| write(&folder.join(file), &value.to_string()).is_ok();
    Enforced {
        memory: memory.is_some_and(|bytes| {
            let limited = set("memory.limit_in_bytes", bytes);
            // Without accounting of swap the file is not there, and swap is not limited.
            let _ = set("memory.memsw.limit_in_bytes", bytes);
            limited
        }),
        processes: processes.is_some_and(|count| set("pids.max", count.into())),
        cpus: cpus.is_some_and(|count| {
            set("cpu.cfs_period_us", PERIOD) && set("cpu.cfs_quota_us", PERIOD.saturating_mul(count.into()))
        }),
    }
}

/// A group of version 2 (kernel documentation, admin-guide/cgroup-v2). Its parent hands on only what it was given, and nothing while
/// processes are in it, unless it is the root.
fn make_new(parent: &Path, folder: &Path, resources: &Resources) -> Enforced {
    let offered = fs::read_to_string(parent.join("cgroup.controllers")).unwrap_or_default();
    let has = |name: &str| offered.split_whitespace().any(|controller| controller == name);
    let memory = resources.memory_bytes.filter(|_| has("memory"));
    let processes = resources.processes.filter(|_| has("pids"));
    let cpus = resources.cpus.filter(|_| has("cpu"));
    if (memory, processes, cpus) == (None, None, None) {
        return Enforced::default();
    }
    for (name, wanted) in [
        ("memory", memory.is_some()),
        ("pids", processes.is_some()),
        ("cpu", cpus.is_some()),
    ] {
        if wanted {
            // Where this fails the group's own files are missing, which is seen below.
            let _ = write(&parent.join("cgroup.subtree_control"), &format!("+{name}"));
        }
    }
    if fs::create_dir(folder).is_err() {
        return Enforced::default();
    }
    let set = |file: &str, value: String| write(&folder.join(file), &value).is_ok();
    Enforced {
        memory: memory.is_some_and(|bytes| {
            let limited = set("memory.max", bytes.to_string());
            let _ = set("memory.swap.max", "0".to_owned());
            let _ = set("memory.oom.group", "0".to_owned());
            limited
        }),
        processes: processes.is_some_and(|count| set("pids.max", count.to_string())),
        cpus: cpus.is_some_and(|count| set("cpu.max", format!("{} {PERIOD}", PERIOD.saturating_mul(count.into())))),
    }
}

/// Writes to a file that has to be there.
fn write(file: &Path, text: &str) -> io::Result<()> {
    OpenOptions::new().write(true).open(file)?.write_all(text.as_bytes())
}
