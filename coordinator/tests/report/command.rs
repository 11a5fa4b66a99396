//! `mcproctor report`, on a real store.

use std::path::Path;
use std::process::{Command, Output};

use mcproctor::record::RunState;
use mcproctor::report::MemoryRun;
use mcproctor::store::Store;
use serde_json::Value;

use crate::{names, results, sample};

/// A store with that run in it.
fn stored(run: &MemoryRun, state: RunState) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    tokio::runtime::Runtime::new().unwrap().block_on(async {
        let store = Store::open(folder.path()).unwrap();
        store.create_run(&run.run).await.unwrap();
        for attempt in &run.attempts {
            let mut attempt = attempt.clone();
            attempt.evidence.clear();
            store.put_attempt(&run.run.id, 1, &attempt).await.unwrap();
        }
        store.set_state(&run.run.id, state).await.unwrap();
    });
    folder
}

fn report(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_mcproctor"))
        .args(["report", "--out-dir"])
        .arg(folder)
        .args(arguments)
        .output()
        .unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

#[test]
fn a_stored_run_is_told_again_as_it_was() {
    let mut run = sample::mixed(12);
    run.evidence.clear();
    for attempt in &mut run.attempts {
        attempt.evidence.clear();
    }
    let store = stored(&run, RunState::Completed);
    let output = report(store.path(), &[]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let folder = store.path().join(run.run.id.as_str());
    let told: Vec<String> = text(&output.stdout).lines().map(str::to_owned).collect();
    assert_eq!(told[0], folder.join("report.html").display().to_string());
    assert_eq!(told.len(), 4);
    assert_eq!(
        names(&folder),
        ["junit.xml", "report.html", "results.json", "summary.md"]
    );
    let written: Value = serde_json::from_slice(&std::fs::read(folder.join("results.json")).unwrap()).unwrap();
    let expected = results(&run);
    for part in ["totals", "cells", "tools", "findings", "iterations"] {
        assert_eq!(written[part], expected[part], "{part}");
    }
}

#[test]
fn only_what_is_asked_for_is_written_and_where() {
    let run = sample::one_agent(1);
    let store = stored(&run, RunState::Completed);
    let elsewhere = tempfile::tempdir().unwrap();
    let place = elsewhere.path().to_str().unwrap();
    let id = run.run.id.as_str();
    let output = report(store.path(), &[id, "--format", "junit,markdown", "--out", place]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert_eq!(names(elsewhere.path()), ["junit.xml", "summary.md"]);
    assert!(!store.path().join(id).exists());
}

#[test]
fn a_run_that_nobody_carries_on_is_not_said_to_go_on() {
    let run = sample::one_agent(2);
    let store = stored(&run, RunState::Running);
    assert!(report(store.path(), &["--format", "markdown"]).status.success());
    let summary = std::fs::read_to_string(store.path().join(run.run.id.as_str()).join("summary.md")).unwrap();
    assert!(summary.contains("stopped early"), "{summary}");
}

#[test]
fn a_run_that_is_not_there_is_a_usage_error_that_says_where_it_was_looked_for() {
    let run = sample::one_agent(1);
    let store = stored(&run, RunState::Completed);
    let empty = tempfile::tempdir().unwrap();
    for (folder, arguments, words) in [
        (store.path(), &["nightly"][..], "find the run nightly"),
        (empty.path(), &[][..], "find a store in"),
    ] {
        let output = report(folder, arguments);
        assert_eq!(output.status.code(), Some(2));
        let said = text(&output.stderr);
        assert!(
            said.contains(words) && said.contains(folder.to_str().unwrap()),
            "{said}"
        );
    }
}
