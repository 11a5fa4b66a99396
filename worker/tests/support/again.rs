//! Tests of this program, run once more under an ordinary user.

use std::ffi::OsStr;
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

/// Debian's user for what is to own nothing.
pub(crate) const NOBODY: &str = "65534";

/// A place where such a user is let in.
pub(crate) struct Again {
    folder: TempDir,
}

impl Again {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        open(folder.path(), 0o755);
        Self { folder }
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    /// A copy: the user may not be let into the folder that a program was built in.
    pub(crate) fn copy(&self, from: &Path, name: &str) -> PathBuf {
        let to = self.path().join(name);
        fs::copy(from, &to).unwrap();
        open(&to, 0o755);
        to
    }

    /// A folder that everybody may write to.
    pub(crate) fn open_folder(&self, name: &str) -> PathBuf {
        let folder = self.path().join(name);
        fs::create_dir(&folder).unwrap();
        open(&folder, 0o777);
        folder
    }

    /// Runs the tests whose names begin with `scenarios` in the folder `temporary`, as `user` says, and expects them to pass.
    pub(crate) fn run(&self, mut user: Command, scenarios: &str, temporary: &Path, env: &[(&str, &OsStr)]) {
        let tests = self.copy(&std::env::current_exe().unwrap(), "tests");
        let output = user
            .arg(&tests)
            .args(["--test-threads", "1", scenarios])
            .envs(env.iter().copied())
            .env("TMPDIR", temporary)
            .current_dir(temporary)
            .output()
            .expect("setpriv is in Debian's package util-linux");
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(
            output.status.success(),
            "{text}\n{}",
            String::from_utf8_lossy(&output.stderr)
        );
        assert!(!text.contains("running 0 tests"), "{text}");
    }
}

/// What runs a program under an ordinary user: without rights if this is root, else as it is. `groups` is an option of setpriv(1).
pub(crate) fn ordinary_user(groups: &str) -> Command {
    let mut command = Command::new("setpriv");
    if rustix::process::geteuid().is_root() {
        command.args(["--reuid", NOBODY, "--regid", NOBODY, groups]);
    }
    command
}

fn open(path: &Path, mode: u32) {
    fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
}
