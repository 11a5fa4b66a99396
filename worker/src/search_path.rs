//! Finding programs by their names.

use std::env;
use std::ffi::OsStr;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

/// The first program of this name in the `PATH` of this process.
pub(crate) fn find(name: &str) -> Option<PathBuf> {
    find_in(name, env::var_os("PATH").as_deref())
}

/// The first program of this name in the folders of `path`; those that depend on where one is are passed over.
fn find_in(name: &str, path: Option<&OsStr>) -> Option<PathBuf> {
    env::split_paths(path?)
        .filter(|folder| folder.is_absolute())
        .map(|folder| folder.join(name))
        .find(|program| is_executable(program))
}

/// Whether somebody may execute the file.
pub(crate) fn is_executable(path: &Path) -> bool {
    path.metadata()
        .is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::fs;

    use super::*;

    #[test]
    fn a_folder_or_a_plain_file_of_that_name_is_no_program() {
        let first = tempfile::tempdir().unwrap();
        let second = tempfile::tempdir().unwrap();
        fs::create_dir(first.path().join("agent")).unwrap();
        let path = env::join_paths([first.path(), second.path()]).unwrap();
        fs::write(second.path().join("agent"), "#!/bin/sh\n").unwrap();
        assert_eq!(find_in("agent", Some(&path)), None);
        fs::set_permissions(second.path().join("agent"), fs::Permissions::from_mode(0o755)).unwrap();
        assert_eq!(find_in("agent", Some(&path)), Some(second.path().join("agent")));
    }
}
