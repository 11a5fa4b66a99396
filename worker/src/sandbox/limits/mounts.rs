//! Where the control groups of this process are.

use std::path::{Path, PathBuf};

/// A folder in which groups for these controllers may be made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Hierarchy {
    /// The folder of this process's own group.
    pub(super) folder: PathBuf,
    /// Of version 1: its controllers. Of version 2 there is one hierarchy, and its files tell.
    pub(super) controllers: Option<Vec<String>>,
}

/// Reads `/proc/self/cgroup` and `/proc/self/mountinfo` (cgroups(7), proc(5)). Inside a container the first may tell the
/// host's path, while the group is mounted at the root; whoever uses a folder has to see whether it is there.
pub(super) fn hierarchies(groups: &str, mounts: &str) -> Vec<Hierarchy> {
    let mounts: Vec<Mount> = mounts.lines().filter_map(Mount::read).collect();
    let mut found = Vec::new();
    for line in groups.lines() {
        let mut parts = line.splitn(3, ':');
        let (Some(_), Some(controllers), Some(path)) = (parts.next(), parts.next(), parts.next()) else {
            continue;
        };
        let controllers: Vec<String> = controllers
            .split(',')
            .filter(|c| !c.is_empty())
            .map(str::to_owned)
            .collect();
        let mount = mounts.iter().find(|mount| match controllers.first() {
            None => mount.kind == "cgroup2",
            Some(first) => mount.kind == "cgroup" && mount.options.split(',').any(|option| option == first),
        });
        if let Some(mount) = mount {
            found.push(Hierarchy {
                folder: mount.at.join(path.trim_start_matches('/')),
                controllers: Some(controllers).filter(|list| !list.is_empty()),
            });
        }
    }
    found
}

struct Mount<'a> {
    at: &'a Path,
    kind: &'a str,
    options: &'a str,
}

impl<'a> Mount<'a> {
    /// One line of mountinfo: the fifth field is the place; after a dash come the kind, the source and the options.
    fn read(line: &'a str) -> Option<Self> {
        let (before, after) = line.split_once(" - ")?;
        let at = Path::new(before.split(' ').nth(4)?);
        let mut after = after.split(' ');
        let kind = after.next()?;
        let options = after.nth(1)?;
        Some(Self { at, kind, options })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MOUNTS: &str = "30 23 0:26 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory
31 23 0:27 / /sys/fs/cgroup/cpu rw,relatime - cgroup cgroup rw,cpu,cpuacct
32 23 0:28 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw
33 23 0:29 / /tmp rw - tmpfs tmpfs rw,size=1g
";

    #[test]
    fn finds_each_controllers_own_group_in_both_versions() {
        let groups = "4:memory:/docker/1\n3:cpu,cpuacct:/\n1:name=systemd:/x\n0::/user.slice\n";
        let found = hierarchies(groups, MOUNTS);
        let folders: Vec<_> = found
            .iter()
            .map(|found| found.folder.to_string_lossy().into_owned())
            .collect();
        assert_eq!(
            folders,
            [
                "/sys/fs/cgroup/memory/docker/1",
                "/sys/fs/cgroup/cpu/",
                "/sys/fs/cgroup/unified/user.slice"
            ]
        );
        assert_eq!(found[0].controllers.as_deref(), Some(&["memory".to_owned()][..]));
        assert_eq!(found[2].controllers, None);
    }
}
