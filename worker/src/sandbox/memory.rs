//! Whether the kernel killed something for want of memory.

use std::fs;
use std::path::{Path, PathBuf};

/// How often the kernel had killed in the worker's control group.
#[derive(Clone, Debug)]
pub(super) struct OomCount {
    file: Option<PathBuf>,
    count: u64,
}

impl OomCount {
    /// The count at this moment; 0 where there is no control group that counts.
    pub(super) fn now() -> Self {
        Self::in_groups("/proc/self/cgroup")
    }

    /// That of the group which another process is in.
    pub(super) fn of_process(process: i32) -> Self {
        Self::in_groups(&format!("/proc/{process}/cgroup"))
    }

    fn in_groups(file: &str) -> Self {
        let groups = fs::read_to_string(file).unwrap_or_default();
        let file = candidates(&groups, Path::new("/sys/fs/cgroup"))
            .into_iter()
            .find(|file| read(file).is_some());
        let count = file.as_deref().and_then(read).unwrap_or(0);
        Self { file, count }
    }

    /// That of the group whose count is in `file`.
    pub(super) fn of(file: &Path) -> Self {
        Self {
            file: Some(file.to_owned()),
            count: read(file).unwrap_or(0),
        }
    }

    /// Whether it is higher now.
    pub(super) fn has_grown(&self) -> bool {
        self.file
            .as_deref()
            .and_then(read)
            .is_some_and(|count| count > self.count)
    }
}

fn read(file: &Path) -> Option<u64> {
    parse(&fs::read_to_string(file).ok()?)
}

/// The `oom_kill` of a v2 `memory.events` or a v1 `memory.oom_control` (kernel documentation, cgroup-v2 and
/// cgroup-v1/memory).
fn parse(text: &str) -> Option<u64> {
    text.lines()
        .find_map(|line| line.strip_prefix("oom_kill ")?.trim().parse().ok())
}

/// Files that may hold the count, the one that says most first. Inside a container the path in `/proc/self/cgroup` may
/// be the host's, while the group is mounted at the root.
fn candidates(groups: &str, root: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for line in groups.lines() {
        let mut parts = line.splitn(3, ':');
        let (Some(_), Some(controllers), Some(path)) = (parts.next(), parts.next(), parts.next()) else {
            continue;
        };
        let path = path.trim_start_matches('/');
        if controllers.is_empty() {
            files.extend([root.join(path).join("memory.events"), root.join("memory.events")]);
        } else if controllers.split(',').any(|controller| controller == "memory") {
            let root = root.join("memory");
            files.extend([
                root.join(path).join("memory.oom_control"),
                root.join("memory.oom_control"),
            ]);
        }
    }
    files
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn reads_both_versions() {
        assert_eq!(
            parse("low 0\nhigh 0\nmax 9\noom 2\noom_kill 1\noom_group_kill 0\n"),
            Some(1)
        );
        assert_eq!(parse("oom_kill_disable 0\nunder_oom 0\noom_kill 3\n"), Some(3));
        assert_eq!(parse("oom_kill_disable 0\nunder_oom 0\n"), None);
    }

    #[test]
    fn looks_in_its_own_group_first() {
        let root = Path::new("/cg");
        assert_eq!(
            candidates("0::/pod/agent\n", root),
            [
                PathBuf::from("/cg/pod/agent/memory.events"),
                PathBuf::from("/cg/memory.events")
            ]
        );
        assert_eq!(
            candidates("12:cpu,cpuacct:/x\n4:memory:/docker/1\n", root)[0],
            PathBuf::from("/cg/memory/docker/1/memory.oom_control")
        );
    }

    #[test]
    fn a_kill_for_want_of_memory_shows() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("memory.events");
        fs::write(&file, "oom_kill 4\n").unwrap();
        let before = OomCount {
            file: Some(file.clone()),
            count: 4,
        };
        assert!(!before.has_grown());
        fs::write(&file, "oom_kill 5\n").unwrap();
        assert!(before.has_grown());
    }
}
