//! The slim worker binary.
#![allow(clippy::unwrap_used)]

use std::io::Write;
use std::process::{Command, Output, Stdio};

fn mcproctor_worker(args: &[&str], stdin: &str) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_mcproctor-worker"))
        .args(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // A command that refuses its arguments may be gone before it reads anything.
    let _ = child.stdin.take().unwrap().write_all(stdin.as_bytes());
    child.wait_with_output().unwrap()
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn the_end_of_standard_input_ends_a_worker_whose_coordinator_is_not_there() {
    let folder = tempfile::tempdir().unwrap();
    let socket = format!("unix:{}", folder.path().join("none.sock").display());
    let base = folder.path().join("sandboxes").display().to_string();
    let output = mcproctor_worker(&["--connect", &socket, "--name", "w", "--base", &base], "a-token\n");
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
}

#[test]
fn a_worker_without_a_place_for_sandboxes_is_a_failure_with_its_cause() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    std::fs::write(&file, "").unwrap();
    let base = file.join("sandboxes").display().to_string();
    let output = mcproctor_worker(
        &["--connect", "unix:/none.sock", "--name", "w", "--base", &base],
        "token-of-this-test\n",
    );
    assert_eq!(output.status.code(), Some(3), "{}", said(&output));
    assert!(
        said(&output).contains(&format!("failed to make the folder {base}: ")),
        "{}",
        said(&output)
    );
    assert!(!said(&output).contains("token-of-this-test"));
}

#[test]
fn arguments_that_make_no_sense_are_a_usage_error() {
    for args in [
        &[][..],
        &["--connect", "http://127.0.0.1:1", "--name", "w", "--base", "b"],
        &["--connect", "unix:/s", "--name", "w", "--base", "b", "--agent", "gpt=1"],
        &["--name", "w"],
    ] {
        let output = mcproctor_worker(args, "");
        assert_eq!(output.status.code(), Some(2), "{args:?}: {}", said(&output));
    }
}

#[test]
fn the_built_in_agent_is_there_too() {
    let output = mcproctor_worker(
        &[
            "minimal-agent",
            "--mcp-config",
            "/nowhere.json",
            "--model-url",
            "http://127.0.0.1:1",
            "--model",
            "m",
        ],
        "hello",
    );
    assert_eq!(output.status.code(), Some(1));
    assert!(said(&output).contains("/nowhere.json"), "{}", said(&output));
}
