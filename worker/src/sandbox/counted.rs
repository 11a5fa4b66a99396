//! What the kernel counts in a control group of limits that were reached.

use std::fs;
use std::path::{Path, PathBuf};

/// Where control groups are mounted.
const ROOT: &str = "/sys/fs/cgroup";

/// What is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Event {
    /// Something was killed for want of memory.
    MemoryKill,
    /// A process or a thread was not started, because there were too many.
    ProcessRefused,
}

impl Event {
    /// The controller that counts it, by its name in version 1.
    fn controller(self) -> &'static str {
        match self {
            Self::MemoryKill => "memory",
            Self::ProcessRefused => "pids",
        }
    }

    /// The file in a group's folder that has the count, in the old or the new version.
    pub(super) fn file(self, old: bool) -> &'static str {
        match (self, old) {
            (Self::MemoryKill, true) => "memory.oom_control",
            (Self::MemoryKill, false) => "memory.events",
            (Self::ProcessRefused, _) => "pids.events",
        }
    }

    /// What stands before the count (kernel documentation, cgroup-v2 and cgroup-v1/memory and cgroup-v1/pids).
    fn key(self) -> &'static str {
        match self {
            Self::MemoryKill => "oom_kill ",
            Self::ProcessRefused => "max ",
        }
    }

    fn read(self, file: &Path) -> Option<u64> {
        self.parse(&fs::read_to_string(file).ok()?)
    }

    fn parse(self, text: &str) -> Option<u64> {
        text.lines()
            .find_map(|line| line.strip_prefix(self.key())?.trim().parse().ok())
    }
}

/// Files in which the kernel counts what the limits of a group led to, where it has those limits.
#[derive(Clone, Debug, Default)]
pub(super) struct Counters {
    /// What was killed for want of memory.
    pub(super) memory_kills: Option<PathBuf>,
    /// Processes and threads that were not started.
    pub(super) processes_refused: Option<PathBuf>,
}

/// How often something had happened in a control group.
#[derive(Clone, Debug)]
pub(super) struct Counted {
    event: Event,
    file: Option<PathBuf>,
    count: u64,
}

impl Counted {
    /// In the group that the worker is in, at this moment; 0 where there is none that counts.
    pub(super) fn here(event: Event) -> Self {
        Self::in_groups(event, "/proc/self/cgroup")
    }

    /// In the group that another process is in.
    #[cfg(target_os = "linux")]
    pub(super) fn around(event: Event, process: i32) -> Self {
        Self::in_groups(event, &format!("/proc/{process}/cgroup"))
    }

    fn in_groups(event: Event, file: &str) -> Self {
        let groups = fs::read_to_string(file).unwrap_or_default();
        let files = candidates(event, &groups, Path::new(ROOT)).into_iter();
        let found = files
            .filter_map(|file| event.read(&file).map(|count| (file, count)))
            .next();
        let (file, count) = found.map_or((None, 0), |(file, count)| (Some(file), count));
        Self { event, file, count }
    }

    /// In the group whose count is in `file`.
    pub(super) fn of(event: Event, file: &Path) -> Self {
        Self {
            event,
            file: Some(file.to_owned()),
            count: event.read(file).unwrap_or(0),
        }
    }

    /// Whether it has happened since.
    pub(super) fn has_grown(&self) -> bool {
        let now = self.file.as_deref().and_then(|file| self.event.read(file));
        now.is_some_and(|count| count > self.count)
    }
}

/// Files that may hold the count, the one that says most first. Inside a container the path in `/proc/self/cgroup` may
/// be the host's, while the group is mounted at the root.
fn candidates(event: Event, groups: &str, root: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for line in groups.lines() {
        let mut parts = line.splitn(3, ':');
        let (Some(_), Some(controllers), Some(path)) = (parts.next(), parts.next(), parts.next()) else {
            continue;
        };
        let path = path.trim_start_matches('/');
        let old = !controllers.is_empty();
        let root = match old {
            false => root.to_owned(),
            true if controllers.split(',').any(|name| name == event.controller()) => root.join(event.controller()),
            true => continue,
        };
        let file = event.file(old);
        files.extend([root.join(path).join(file), root.join(file)]);
    }
    files
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn reads_both_versions() {
        let memory = |text| Event::MemoryKill.parse(text);
        assert_eq!(
            memory("low 0\nhigh 0\nmax 9\noom 2\noom_kill 1\noom_group_kill 0\n"),
            Some(1)
        );
        assert_eq!(memory("oom_kill_disable 0\nunder_oom 0\noom_kill 3\n"), Some(3));
        assert_eq!(memory("oom_kill_disable 0\nunder_oom 0\n"), None);
        assert_eq!(Event::ProcessRefused.parse("max 7\n"), Some(7));
    }

    #[test]
    fn looks_in_its_own_group_first() {
        let root = Path::new("/cg");
        assert_eq!(
            candidates(Event::MemoryKill, "0::/pod/agent\n", root),
            [
                PathBuf::from("/cg/pod/agent/memory.events"),
                PathBuf::from("/cg/memory.events")
            ]
        );
        let old = "12:cpu,cpuacct:/x\n5:pids:/p\n4:memory:/docker/1\n";
        assert_eq!(
            candidates(Event::MemoryKill, old, root)[0],
            PathBuf::from("/cg/memory/docker/1/memory.oom_control")
        );
        assert_eq!(
            candidates(Event::ProcessRefused, old, root)[0],
            PathBuf::from("/cg/pids/p/pids.events")
        );
    }

    #[test]
    fn what_happened_since_shows_and_what_had_happened_before_does_not() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("memory.events");
        fs::write(&file, "oom_kill 4\n").unwrap();
        let before = Counted::of(Event::MemoryKill, &file);
        assert!(!before.has_grown());
        fs::write(&file, "oom_kill 5\n").unwrap();
        assert!(before.has_grown());
    }
}
