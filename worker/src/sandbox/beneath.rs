//! Writing files where an agent has been, following no link that it may have laid.

use std::fs::File;
use std::io::{self, Write as _};
use std::os::fd::OwnedFd;
use std::path::{Component, Path};

use rustix::fs::{AtFlags, Gid, Mode, OFlags, Uid, fchown, mkdirat, openat, unlinkat};
use rustix::io::Errno;

/// Writes `contents` to the file at `path` beneath `folder`, readable by its owner only; missing folders are made.
///
/// No part of `path` is followed if it is a symbolic link, so nothing outside `folder` is ever touched: a link in the file's
/// own place is replaced by the file, one in a folder's place is an error. Where there is an `owner` (user and group), what is
/// made is theirs.
pub(super) fn write(folder: &Path, path: &Path, contents: &[u8], owner: Option<(u32, u32)>) -> io::Result<()> {
    let give = |file: &OwnedFd| match owner {
        Some((user, group)) => fchown(file, Some(Uid::from_raw(user)), Some(Gid::from_raw(group))),
        None => Ok(()),
    };
    let mut names = Vec::new();
    for part in path.components() {
        match part {
            Component::Normal(name) => names.push(name),
            Component::CurDir => {}
            _ => return Err(io::ErrorKind::InvalidInput.into()),
        }
    }
    let name = names.pop().ok_or(io::ErrorKind::InvalidInput)?;
    let as_folder = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let mut parent: OwnedFd = rustix::fs::open(folder, as_folder, Mode::empty())?;
    for name in names {
        let made = match mkdirat(&parent, name, Mode::RWXU) {
            Ok(()) => true,
            Err(Errno::EXIST) => false,
            Err(error) => return Err(error.into()),
        };
        parent = openat(&parent, name, as_folder, Mode::empty())?;
        if made {
            give(&parent)?;
        }
    }
    match unlinkat(&parent, name, AtFlags::empty()) {
        Ok(()) | Err(Errno::NOENT) => {}
        Err(error) => return Err(error.into()),
    }
    let new = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let file = openat(&parent, name, new, Mode::RUSR | Mode::WUSR)?;
    give(&file)?;
    File::from(file).write_all(contents)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::fs;
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    use super::*;

    #[test]
    fn a_link_in_the_files_place_is_replaced_and_its_target_left_alone() {
        let (inside, outside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let precious = outside.path().join("precious");
        fs::write(&precious, "before").unwrap();
        symlink(&precious, inside.path().join("config")).unwrap();
        write(inside.path(), Path::new("config"), b"after", None).unwrap();
        assert_eq!(fs::read_to_string(&precious).unwrap(), "before");
        assert_eq!(fs::read_to_string(inside.path().join("config")).unwrap(), "after");
    }

    #[test]
    fn a_link_in_a_folders_place_is_not_followed() {
        let (inside, outside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        symlink(outside.path(), inside.path().join("folder")).unwrap();
        write(inside.path(), Path::new("folder/file"), b"x", None).unwrap_err();
        write(inside.path(), Path::new("../file"), b"x", None).unwrap_err();
        assert_eq!(fs::read_dir(outside.path()).unwrap().count(), 0);
    }

    #[test]
    fn folders_are_made_and_files_replaced_for_their_owner_only() {
        let inside = tempfile::tempdir().unwrap();
        for text in ["one", "two"] {
            write(inside.path(), Path::new("a/b/file"), text.as_bytes(), None).unwrap();
        }
        let file = inside.path().join("a/b/file");
        assert_eq!(fs::read_to_string(&file).unwrap(), "two");
        assert_eq!(file.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    }
}
