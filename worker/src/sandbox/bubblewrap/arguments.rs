//! The arguments of `bwrap`.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use crate::sandbox::confined::outermost;
use crate::sandbox::etc;
use crate::sandbox::landlock::{FileRight, SYSTEM};
use crate::sandbox::view::View;
use crate::sandbox::ways;

/// Where our own program lies inside; it is the first process there.
pub(super) const LAUNCHER: &str = "/run/mcproctor/launcher";

/// Everything of the kernel's that can be the agent's own. Without a control group's namespace an old kernel still holds.
pub(super) const NAMESPACES: [&str; 14] = [
    "--unshare-user",
    "--unshare-pid",
    "--unshare-ipc",
    "--unshare-uts",
    "--unshare-net",
    "--unshare-cgroup-try",
    "--uid",
    etc::ID,
    "--gid",
    etc::ID,
    "--hostname",
    etc::HOST,
    "--cap-drop",
    "ALL",
];

/// Where the parts of one sandbox lie outside.
#[derive(Clone, Copy, Debug)]
pub(super) struct Room<'a> {
    pub(super) launcher: &'a Path,
    pub(super) ways: &'a Path,
    pub(super) etc: &'a Path,
    pub(super) own_folders: &'a [&'a View],
    pub(super) cwd: &'a Path,
    /// Folders that have to be there, whatever is in them.
    pub(super) passed_through: &'a [PathBuf],
}

/// The arguments up to the program. `installed` is what is shown of the host beside the system, at the place where it lies.
pub(super) fn arguments(room: &Room<'_>, installed: &[PathBuf]) -> Vec<OsString> {
    let mut args: Vec<OsString> = NAMESPACES.into_iter().map(Into::into).collect();
    let shown = system(&mut args);
    bind(&mut args, "--ro-bind", room.etc, Path::new(etc::ETC));
    for folder in etc::folders() {
        bind(&mut args, "--ro-bind", &folder, &folder);
    }
    words(
        &mut args,
        &[
            "--proc",
            "/proc",
            "--dev",
            "/dev",
            "--dir",
            "/var",
            "--symlink",
            "../tmp",
            "/var/tmp",
        ],
    );
    for folder in room.own_folders {
        bind(&mut args, "--bind", &folder.outside, &folder.inside);
    }
    for folder in room.passed_through {
        if !shown.iter().any(|shown| folder.starts_with(shown)) {
            words(&mut args, &["--dir"]);
            args.push(folder.into());
        }
    }
    installed_files(&mut args, &shown, installed);
    bind(&mut args, "--ro-bind", room.launcher, Path::new(LAUNCHER));
    bind(&mut args, "--ro-bind", room.ways, Path::new(ways::INSIDE));
    words(&mut args, &["--remount-ro", "/", "--as-pid-1", "--chdir"]);
    args.push(room.cwd.into());
    args
}

/// The system, read-only. What is a link there is one here: `/bin` to `/usr/bin`, as a rule. Gives what is shown as a whole.
fn system(args: &mut Vec<OsString>) -> Vec<PathBuf> {
    let mut shown = Vec::new();
    for (path, right) in SYSTEM {
        let path = Path::new(path);
        // All of them are made up or mounted anew.
        let anew = ["/proc", "/dev", etc::ETC].iter().any(|top| path.starts_with(top));
        if anew || !path.exists() {
            continue;
        }
        match path.read_link() {
            Ok(target) if right == FileRight::Run => link(args, &target, path),
            _ => {
                bind(args, "--ro-bind", path, path);
                shown.push(path.to_owned());
            }
        }
    }
    shown
}

/// Programs with what was installed with them: folders before what lies in them, which is then there already.
fn installed_files(args: &mut Vec<OsString>, shown: &[PathBuf], installed: &[PathBuf]) {
    let mut files = installed.to_vec();
    files.retain(|path| !below_a_link(path));
    for path in outermost(files, shown) {
        match path.read_link() {
            Ok(target) => link(args, &target, &path),
            Err(_) => bind(args, "--ro-bind", &path, &path),
        }
    }
}

/// Whether one of the system's links leads to it: `/bin/sh` is there with `/usr/bin/sh`.
fn below_a_link(path: &Path) -> bool {
    SYSTEM
        .into_iter()
        .any(|(folder, right)| right == FileRight::Run && path.starts_with(folder))
}

fn bind(args: &mut Vec<OsString>, how: &str, outside: &Path, inside: &Path) {
    args.extend([how.into(), outside.into(), inside.into()]);
}

fn link(args: &mut Vec<OsString>, target: &Path, path: &Path) {
    args.extend(["--symlink".into(), target.into(), path.into()]);
}

fn words(args: &mut Vec<OsString>, words: &[&str]) {
    args.extend(words.iter().map(OsString::from));
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    fn line(installed: &[PathBuf]) -> Vec<String> {
        let home = View {
            outside: "/sandboxes/a/home".into(),
            inside: "/agent/home".into(),
        };
        let room = Room {
            launcher: Path::new("/opt/mcproctor"),
            ways: Path::new("/sandboxes/a/ways"),
            etc: Path::new("/sandboxes/a/etc"),
            own_folders: &[&home],
            cwd: Path::new("/agent/work"),
            passed_through: &[PathBuf::from("/tmp/clone/tests"), PathBuf::from("/usr/bin")],
        };
        let args = arguments(&room, installed);
        args.into_iter().map(|arg| arg.into_string().unwrap()).collect()
    }

    fn at(line: &[String], words: &[&str]) -> Option<usize> {
        line.windows(words.len()).position(|found| found == words)
    }

    #[test]
    fn there_is_no_network_and_the_root_is_closed_last() {
        let line = line(&[]);
        assert!(at(&line, &["--unshare-net"]).is_some());
        assert!(!line.iter().any(|arg| arg == "--share-net"));
        let closed = at(&line, &["--remount-ro", "/"]).unwrap();
        let last_bind = line
            .iter()
            .rposition(|arg| arg.starts_with("--") && arg.contains("bind"))
            .unwrap();
        assert!(last_bind < closed);
    }

    #[test]
    fn only_its_own_folders_can_be_written() {
        let line = line(&[]);
        let writable: Vec<_> = line.iter().filter(|arg| *arg == "--bind").collect();
        assert_eq!(writable.len(), 1);
        assert!(at(&line, &["--bind", "/sandboxes/a/home", "/agent/home"]).is_some());
        assert!(at(&line, &["--ro-bind", "/sandboxes/a/etc", "/etc"]).is_some());
        assert!(!line.iter().any(|arg| arg == "/etc/passwd"));
    }

    #[test]
    fn folders_that_a_path_passes_through_are_there_unless_the_system_has_them() {
        let line = line(&[]);
        assert!(at(&line, &["--dir", "/tmp/clone/tests"]).is_some());
        assert!(at(&line, &["--dir", "/usr/bin"]).is_none());
    }

    #[test]
    fn what_lies_in_a_folder_that_is_shown_is_not_shown_again() {
        let folder = tempfile::tempdir().unwrap();
        let tree = folder.path().join("node_modules");
        std::fs::create_dir_all(tree.join(".bin")).unwrap();
        std::os::unix::fs::symlink("../agent", tree.join(".bin/agent")).unwrap();
        let line = line(&[tree.join(".bin/agent"), tree.clone(), "/usr/bin/node".into()]);
        let tree = tree.to_str().unwrap();
        assert!(at(&line, &["--ro-bind", tree, tree]).is_some());
        assert!(
            !line
                .iter()
                .any(|arg| arg.ends_with(".bin/agent") || arg == "/usr/bin/node")
        );
    }
}
