//! The same scenarios under a user without any rights of its own, and in a place like a pod that may do nothing.

use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
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

/// Where a user without any rights is.
#[derive(Clone, Copy, PartialEq)]
enum Among {
    /// On the machine.
    Others,
    /// On the machine, with the group that may use docker.
    UsersOfDocker,
    /// In a pod.
    Pod,
}

/// Runs the tests whose names begin with `scenarios` as an ordinary user.
fn again_as_nobody(scenarios: &str, among: Among) {
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
        command.args(["--reuid", NOBODY, "--regid", NOBODY]);
        match among {
            Among::UsersOfDocker => command.arg(format!("--groups={}", group_of_docker())),
            _ => command.arg("--clear-groups"),
        };
    }
    if among == Among::Pod {
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

fn group_of_docker() -> u32 {
    let socket = fs::metadata("/var/run/docker.sock").expect("scripts/engine starts one");
    assert_ne!(socket.gid(), 0, "the package docker.io makes the group `docker`");
    socket.gid()
}

#[test]
fn an_ordinary_user_holds_the_same_at_landlock() {
    again_as_nobody("held::landlock::", Among::Others);
}

#[test]
fn an_ordinary_user_holds_the_same_at_bubblewrap() {
    again_as_nobody("held::bubblewrap::", Among::Others);
}

#[test]
fn an_ordinary_user_who_may_use_docker_holds_the_same_in_a_container() {
    again_as_nobody("held::container::", Among::UsersOfDocker);
}

#[test]
fn landlock_holds_the_same_in_a_restricted_pod() {
    again_as_nobody("held::landlock::", Among::Pod);
}
