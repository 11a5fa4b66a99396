#![allow(clippy::unwrap_used, clippy::panic)]

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::time::{Duration, Instant};

use tempfile::TempDir;

use mcproctor_proto::assignment::DEFAULT_IMAGE;

use super::*;
use crate::sandbox::{MARKER, Output, ProcessEnd};

struct Seat {
    sandbox: Sandbox,
    files: OutputFiles,
    _base: TempDir,
}

/// At the level `process` nothing is started in between.
fn nothing() -> Launcher {
    Launcher::of("/nonexistent")
}

impl Seat {
    fn new() -> Self {
        let base = tempfile::tempdir().unwrap();
        let sandbox = Sandbox::set_up(
            &base.path().join("sandboxes"),
            SandboxLevel::Process,
            DEFAULT_IMAGE,
            &nothing(),
        )
        .unwrap();
        let files = OutputFiles {
            stdout: base.path().join("stdout"),
            stderr: base.path().join("stderr"),
        };
        Self {
            sandbox,
            files,
            _base: base,
        }
    }

    fn spec(&self, script: &str, stdin: &[u8]) -> Spec {
        Spec {
            program: "/bin/sh".into(),
            args: vec!["-c".to_owned(), script.to_owned()],
            env: BTreeMap::new(),
            path: Vec::new(),
            reads: Vec::new(),
            stdin: stdin.to_vec(),
            cwd: self.sandbox.work().to_owned(),
        }
    }

    fn start(&self, script: &str, stdin: &[u8]) -> RunningProcess {
        self.sandbox
            .start(&self.spec(script, stdin), &self.files, Limits::default())
            .unwrap()
    }

    async fn run(&self, script: &str, stdin: &[u8]) -> (Vec<String>, ProcessEnd) {
        collect(&mut self.start(script, stdin)).await
    }
}

async fn collect(process: &mut RunningProcess) -> (Vec<String>, ProcessEnd) {
    let mut lines = Vec::new();
    loop {
        match process.next().await {
            Output::Line(line) => lines.push(String::from_utf8_lossy(&line).into_owned()),
            Output::Ended(end) => return (lines, end),
        }
    }
}

async fn first_line(process: &mut RunningProcess) -> String {
    match process.next().await {
        Output::Line(line) => String::from_utf8_lossy(&line).into_owned(),
        Output::Ended(end) => panic!("ended without a line: {end:?}"),
    }
}

fn alive(pid: &str) -> bool {
    fs::read_to_string(format!("/proc/{pid}/stat")).is_ok_and(|stat| {
        !stat
            .rsplit(')')
            .next()
            .unwrap_or_default()
            .trim_start()
            .starts_with('Z')
    })
}

#[tokio::test]
async fn the_environment_comes_from_nothing() {
    let seat = Seat::new();
    let (mut lines, end) = seat.run("env; pwd", b"").await;
    assert_eq!(end.code, Some(0));
    assert_eq!(lines.pop().unwrap(), seat.sandbox.work().to_str().unwrap());
    let mut names: Vec<&str> = lines.iter().filter_map(|line| line.split('=').next()).collect();
    names.sort_unstable();
    names.retain(|name| !["PWD", "OLDPWD", "SHLVL", "_"].contains(name));
    let expected = [
        "HOME", "LANG", "LOGNAME", MARKER, "NO_COLOR", "PATH", "SHELL", "TERM", "TMPDIR", "USER",
    ];
    assert_eq!(names, expected);
    assert!(lines.contains(&format!("HOME={}", seat.sandbox.home().display())));
}

#[tokio::test]
async fn a_prompt_beyond_the_pipe_and_argument_limits_arrives_whole() {
    let seat = Seat::new();
    let prompt = "x".repeat(200_000);
    let (lines, end) = seat.run("wc -c", prompt.as_bytes()).await;
    assert_eq!(lines[0].trim(), "200000");
    assert_eq!(end.code, Some(0));
}

#[tokio::test]
async fn a_program_that_ignores_its_input_does_not_hang() {
    let seat = Seat::new();
    let (lines, end) = seat.run("echo done; exit 3", "x".repeat(1_000_000).as_bytes()).await;
    assert_eq!(lines, ["done"]);
    assert_eq!(end.code, Some(3));
}

#[tokio::test]
async fn output_far_beyond_a_pipes_buffer_is_complete_to_the_last_byte() {
    let seat = Seat::new();
    let (lines, end) = seat
        .run(
            "head -c 3000000 /dev/zero | tr '\\0' a; echo; printf tail; echo oops >&2",
            b"",
        )
        .await;
    assert_eq!(lines[0].len(), 3_000_000);
    assert_eq!(lines[1], "tail");
    assert_eq!(end.stderr_tail, "oops\n");
    assert_eq!(end.output_fault, None);
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_descendant_that_keeps_the_output_open_delays_nothing_and_is_killed() {
    let seat = Seat::new();
    let begun = Instant::now();
    let (lines, end) = seat.run("setsid sleep 600 & echo $!; exit 0", b"").await;
    assert!(begun.elapsed() < Duration::from_secs(5), "waited for the descendant");
    assert_eq!(end.leftovers, 1);
    assert!(!alive(&lines[0]));
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn killing_reaches_daemons_that_left_session_group_parent_environment_and_folder() {
    let seat = Seat::new();
    // The first kept only the marker, the second only the streams, the third only the folder.
    let script = "
        (cd / && setsid sh -c 'sleep 600 >/dev/null 2>&1 </dev/null & echo $!' &)
        (cd / && env -i setsid sh -c 'sleep 600 & echo $!' &)
        (env -i setsid sh -c 'echo $$; exec sleep 600 >/dev/null 2>&1 </dev/null' &)
        sleep 600";
    let mut process = seat.start(script, b"");
    let mut pids = Vec::new();
    for _ in 0..3 {
        pids.push(first_line(&mut process).await);
    }
    assert!(pids.iter().all(|pid| alive(pid)));
    process.kill_tree().await;
    assert_eq!(pids.iter().filter(|pid| alive(pid)).count(), 0);
    let (_, end) = collect(&mut process).await;
    assert!(end.killed);
    assert_eq!(end.signal, Some(9));
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn dropping_kills_everything_and_removes_the_folders() {
    let seat = Seat::new();
    let mut process = seat.start("setsid sleep 600 & echo $!; wait", b"");
    let pid = first_line(&mut process).await;
    drop(process);
    assert!(!alive(&pid));
    let folder = seat.sandbox.home().parent().unwrap().to_owned();
    drop(seat.sandbox);
    assert!(!folder.exists());
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn killing_one_attempt_leaves_its_neighbour_alone() {
    let (seat, neighbour) = (Seat::new(), Seat::new());
    let mut process = seat.start("echo $$; sleep 600", b"");
    let mut other = neighbour.start("setsid sleep 600 & echo $!; wait", b"");
    let (pid, other_pid) = (first_line(&mut process).await, first_line(&mut other).await);
    process.kill_tree().await;
    assert!(!alive(&pid));
    assert!(alive(&other_pid));
}

#[tokio::test]
async fn output_beyond_the_limit_ends_the_program_and_is_called_incomplete() {
    let seat = Seat::new();
    let limits = Limits {
        output_bytes: 100_000,
        ..Limits::default()
    };
    let mut process = seat.sandbox.start(&seat.spec("yes", b""), &seat.files, limits).unwrap();
    let (_, end) = collect(&mut process).await;
    assert!(end.output_fault.unwrap().contains("100000"));
}

#[tokio::test]
async fn two_turns_append_to_one_file_and_are_read_apart() {
    let seat = Seat::new();
    assert_eq!(seat.run("echo one; echo first >&2", b"").await.0, ["one"]);
    let (lines, end) = seat.run("echo two", b"").await;
    assert_eq!(lines, ["two"]);
    assert_eq!(end.stderr_tail, "");
    assert_eq!(fs::read_to_string(&seat.files.stdout).unwrap(), "one\ntwo\n");
}

#[tokio::test]
async fn files_are_written_inside_the_sandbox_only() {
    let seat = Seat::new();
    let inside = seat.sandbox.home().join(".config/agent.json");
    seat.sandbox.write(&inside, b"{}").unwrap();
    assert_eq!(inside.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    for outside in [seat.sandbox.home().join("../../outside"), "/etc/outside".into()] {
        assert!(matches!(
            seat.sandbox.write(&outside, b""),
            Err(SandboxError::Outside { .. })
        ));
    }
}

#[tokio::test]
async fn a_program_that_is_not_there_is_an_error_of_the_start() {
    let seat = Seat::new();
    let spec = Spec {
        program: "/nowhere/agent".into(),
        ..seat.spec("", b"")
    };
    let error = seat.sandbox.start(&spec, &seat.files, Limits::default()).unwrap_err();
    assert!(matches!(error, SandboxError::Start { .. }), "{error}");
}
