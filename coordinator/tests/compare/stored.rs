//! What `grade`, `report`, `run --resume` and `compare` do with graded and damaged runs of a store.

use std::fs;
use std::path::Path;
use std::process::Command;

use mcproctor::record::RunState;
use mcproctor::store::{Reader, Store};
use mcproctor_proto::evidence::EvidenceKind;
use serde_json::json;
use sha2::{Digest, Sha256};
use tempfile::TempDir;

use crate::planted::{Planted, of, run};

/// Exit code and everything that was said.
fn program(folder: &Path, arguments: &[&str]) -> (i32, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_mcproctor"))
        .args(arguments)
        .current_dir(folder)
        .output()
        .unwrap();
    let said = [output.stdout, output.stderr].concat();
    (output.status.code().unwrap(), String::from_utf8(said).unwrap())
}

fn planted() -> Planted {
    let mut planted = run("2026-11-05T07-00-00-aaaa", &[of(2, 0)]);
    planted.record["testCases"][0]["expectedTools"] = json!([]);
    planted
}

/// A folder with that run, and its test case as it is now.
async fn folder_with(planted: &Planted, state: RunState, keys: &str, calls: Option<&[u8]>) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let write = |file: &str, text: String| fs::write(folder.path().join(file), text).unwrap();
    write(
        "eval.yaml",
        "mcp: {url: http://127.0.0.1:1/mcp}\ntestcases: {path: ./cases}\nreport: {outDir: ./reports}\n".to_owned(),
    );
    fs::create_dir(folder.path().join("cases")).unwrap();
    write(
        "cases/case-1.yaml",
        format!("name: case 1\nprompt: Question 1?\n{keys}\n"),
    );
    let store = Store::open(&folder.path().join("reports")).unwrap();
    let record = planted.record();
    store.create_run(&record).await.unwrap();
    let (sha256, list) = planted.tool_list();
    store.put_evidence(EvidenceKind::ToolList, &sha256, list).await.unwrap();
    for mut attempt in planted.attempts() {
        if let Some(calls) = calls {
            let sha256 = hex::encode(Sha256::digest(calls));
            store
                .put_evidence(EvidenceKind::Calls, &sha256, calls.to_vec())
                .await
                .unwrap();
            let call = json!({
                "id": "1", "server": "weather", "tool": "get_forecast", "arguments": null, "state": "ok", "result": null,
                "error": null, "startedAtUnixMs": 0, "durationMs": 1, "bytes": 9, "sha256": "", "truncated": true,
                "legs": 1, "turn": 0, "httpStatus": 200,
            });
            attempt.calls = vec![serde_json::from_value(call).unwrap()];
            let piece = json!({"kind": "calls", "sha256": sha256, "bytes": calls.len()});
            attempt.evidence = vec![serde_json::from_value(piece).unwrap()];
        }
        store.put_attempt(&record.id, 1, &attempt).await.unwrap();
    }
    store.set_state(&record.id, state).await.unwrap();
    folder
}

fn runs(folder: &Path) -> usize {
    Reader::open(&folder.join("reports")).unwrap().runs().unwrap().len()
}

/// Overwrites every file below `folder` but the database.
fn damage(folder: &Path) -> usize {
    let mut damaged = 0;
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            damaged += damage(&path);
        } else if !path.file_name().unwrap().to_string_lossy().contains(".db") {
            let length = fs::metadata(&path).unwrap().len();
            fs::write(&path, vec![0xff; usize::try_from(length).unwrap()]).unwrap();
            damaged += usize::from(length > 0);
        }
    }
    damaged
}

#[tokio::test]
async fn damaged_evidence_makes_an_expectation_that_needs_it_unchecked() {
    let keys = "expectedTools: []\nexpectedArguments: {get_forecast: {days: 7}}";
    let folder = folder_with(&planted(), RunState::Completed, keys, Some(b"{\"not\": \"a call\"}\n")).await;
    assert!(damage(&folder.path().join("reports")) > 0);
    let (code, said) = program(folder.path(), &["grade", "2026-11-05"]);
    assert_eq!(code, 3, "{said}");
    assert!(said.contains("cannot be compared"), "{said}");
    assert_eq!(runs(folder.path()), 2);
}

#[tokio::test]
async fn a_run_with_a_damaged_record_leaves_no_half_graded_run() {
    let folder = folder_with(&planted(), RunState::Completed, "expectedTools: []", None).await;
    let reports = folder.path().join("reports");
    let database = fs::read_dir(&reports)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .find(|path| path.extension().is_some_and(|it| it == "db"))
        .unwrap();
    let connection = rusqlite::Connection::open(database).unwrap();
    let damaged = connection
        .execute(
            "UPDATE record SET json = x'00' WHERE key = (SELECT max(key) FROM record)",
            [],
        )
        .unwrap();
    assert_eq!(damaged, 1);
    drop(connection);
    let (code, said) = program(folder.path(), &["grade", "latest"]);
    assert_eq!(code, 3, "{said}");
    assert_eq!(runs(folder.path()), 1, "{said}");
}

#[tokio::test]
async fn a_graded_run_is_named_as_any_other_and_never_resumed_or_compared_with_its_origin() {
    let folder = folder_with(&planted(), RunState::Aborted, "expectedTools: []", None).await;
    let (code, said) = program(folder.path(), &["grade", "2026-11-05"]);
    assert_eq!(code, 0, "{said}");
    let graded = Reader::open(&folder.path().join("reports"))
        .unwrap()
        .runs()
        .unwrap()
        .remove(0);
    let graded = graded.id.as_str();

    for arguments in [
        &["report", "latest"][..],
        &["report", graded],
        &["report", "2026-11-05"],
        &["report"],
    ] {
        let (code, said) = program(folder.path(), arguments);
        assert_eq!(code, 0, "{arguments:?}: {said}");
    }
    for arguments in [&["report", ""][..], &["grade", ""], &["compare", "", "latest"]] {
        let (code, said) = program(folder.path(), arguments);
        assert_eq!(code, 2, "{arguments:?}: {said}");
        assert!(said.contains("without a name"), "{arguments:?}: {said}");
    }

    let (code, said) = program(folder.path(), &["compare", "2026-11-05", "latest"]);
    assert_eq!(code, 2, "{said}");
    assert!(said.contains("both judge the same recordings"), "{said}");

    let reader = Reader::open(&folder.path().join("reports")).unwrap();
    let held = reader.latest_held_run().unwrap().unwrap();
    assert_eq!(held.as_str(), "2026-11-05T07-00-00-aaaa");
}
