//! The same scenarios under a user without any rights of its own, and in a place like a pod that may do nothing.

use std::fs;
use std::os::unix::fs::MetadataExt as _;

use crate::again::{Again, ordinary_user};
use crate::seat::{HELD_AGENT, LAUNCHER, held_agent, launcher};

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
    let again = Again::new();
    let program = again.copy(&launcher().program, "mcproctor-worker");
    let example = again.copy(&held_agent(), "held_agent");
    let temporary = again.open_folder("tmp");
    let groups = match among {
        Among::UsersOfDocker => format!("--groups={}", group_of_docker()),
        Among::Others | Among::Pod => "--clear-groups".to_owned(),
    };
    let mut user = ordinary_user(&groups);
    if among == Among::Pod {
        user.args(POD).args([&temporary, &temporary]);
    }
    let env = [(LAUNCHER, program.as_os_str()), (HELD_AGENT, example.as_os_str())];
    again.run(user, scenarios, &temporary, &env);
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
