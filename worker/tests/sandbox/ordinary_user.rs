//! The same scenarios under a user without any rights of its own, and in a place like a pod that may do nothing.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::process::Command;

use crate::seat::{HELD_AGENT, LAUNCHER, held_agent, launcher};

/// Debian's user for what is to own nothing.
const NOBODY: &str = "65534";

/// Like a pod under Kubernetes' restricted standard: a root that is read-only, processes of its own, no capability, no new
/// privilege. What it may write follows.
const POD: [&str; 15] = [
    "--no-new-privs",
    "--bounding-set=-all",
    "--inh-caps=-all",
    "bwrap",
    "--ro-bind",
    "/",
    "/",
    "--dev",
    "/dev",
    "--proc",
    "/proc",
    "--unshare-pid",
    "--cap-drop",
    "ALL",
    "--bind",
];

/// Runs the tests whose names begin with `scenarios` as an ordinary user, in a pod or not.
fn again_as_nobody(scenarios: &str, in_a_pod: bool) {
    let folder = tempfile::tempdir().unwrap();
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
    // Copied, because an ordinary user may not be let into the folder that they were built in.
    let copy = |from: &std::path::Path, name: &str| {
        let to = folder.path().join(name);
        fs::copy(from, &to).unwrap();
        fs::set_permissions(&to, fs::Permissions::from_mode(0o755)).unwrap();
        to
    };
    let tests = copy(&std::env::current_exe().unwrap(), "tests");
    let program = copy(&launcher().program, "mcproctor-worker");
    let example = copy(&held_agent(), "held_agent");
    let temporary = folder.path().join("tmp");
    fs::create_dir(&temporary).unwrap();
    fs::set_permissions(&temporary, fs::Permissions::from_mode(0o777)).unwrap();
    let mut command = Command::new("setpriv");
    if rustix::process::geteuid().is_root() {
        command.args(["--reuid", NOBODY, "--regid", NOBODY, "--clear-groups"]);
    }
    if in_a_pod {
        command.args(POD).args([&temporary, &temporary]);
    }
    let output = command
        .arg(&tests)
        .args(["--test-threads", "1", scenarios])
        .env(LAUNCHER, &program)
        .env(HELD_AGENT, &example)
        .env("TMPDIR", &temporary)
        .current_dir(&temporary)
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

#[test]
fn an_ordinary_user_holds_the_same_at_landlock() {
    again_as_nobody("held::landlock::", false);
}

#[test]
fn an_ordinary_user_holds_the_same_at_bubblewrap() {
    again_as_nobody("held::bubblewrap::", false);
}

#[test]
fn landlock_holds_the_same_in_a_restricted_pod() {
    again_as_nobody("held::landlock::", true);
}
