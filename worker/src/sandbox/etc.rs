//! The agent's `/etc`: a few files of its own, copies of the host's harmless ones, and places for its folders.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::environment::USER;
use super::landlock::SYSTEM;

/// The user's and the group's number inside, wherever it can be chosen.
pub(super) const ID: &str = "1000";

/// The name of the agent's machine.
pub(super) const HOST: &str = "sandbox";

/// Where it lies inside.
pub(super) const ETC: &str = "/etc";

/// A file of the host's that is larger is not copied; none of them is.
const LARGEST: u64 = 4 * 1024 * 1024;

/// Fills `folder`: the agent as the only user, its own machine as the only host, and nobody to ask for others; beside them
/// the host's files. Copied and shown as one folder, because each file that is mounted by itself takes a third of a
/// millisecond.
pub(super) fn write(folder: &Path) -> io::Result<()> {
    for path in of_host() {
        let Some(copy) = copy_of(&path, folder) else { continue };
        let Ok(meta) = path.metadata() else { continue };
        if let Some(parent) = copy.parent() {
            fs::create_dir_all(parent)?;
        }
        if meta.is_dir() {
            fs::create_dir_all(&copy)?;
        } else if meta.is_file() && meta.len() <= LARGEST {
            // What this user may not read, its agent does without.
            let _ = fs::read(&path).and_then(|text| fs::write(&copy, text));
        }
    }
    write_own(folder, ID, ID)
}

/// Writes the files that tell of the agent's own world into `folder`, for a user and a group with these numbers.
pub(super) fn write_own(folder: &Path, user: &str, group: &str) -> io::Result<()> {
    for (name, text) in own(user, group) {
        fs::write(folder.join(name), text)?;
    }
    Ok(())
}

/// Names of files in `/etc`, and what stands in them.
fn own(user: &str, group: &str) -> [(&'static str, String); 6] {
    [
        ("group", format!("root:x:0:\n{USER}:x:{group}:\nnogroup:x:65534:\n")),
        ("hostname", format!("{HOST}\n")),
        ("hosts", "127.0.0.1 localhost\n".to_owned()),
        (
            "nsswitch.conf",
            "passwd: files\ngroup: files\nhosts: files\n".to_owned(),
        ),
        (
            "passwd",
            format!(
                "root:x:0:0::/root:/bin/sh\n{USER}:x:{user}:{group}::/agent/home:/bin/sh\nnobody:x:65534:65534::/:/bin/false\n"
            ),
        ),
        ("resolv.conf", String::new()),
    ]
}

/// The names of the files of [`write_own`].
pub(super) fn own_names() -> [&'static str; 6] {
    own("", "").map(|(name, _)| name)
}

/// The folders of the host's that are shown in it.
pub(super) fn folders() -> impl Iterator<Item = PathBuf> {
    of_host().filter(|path| path.is_dir())
}

fn of_host() -> impl Iterator<Item = PathBuf> {
    SYSTEM
        .into_iter()
        .map(|(path, _)| PathBuf::from(path))
        .filter(|path| path.starts_with(ETC))
}

fn copy_of(path: &Path, folder: &Path) -> Option<PathBuf> {
    Some(folder.join(path.strip_prefix(ETC).ok()?))
}
