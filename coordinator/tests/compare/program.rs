//! `mcproctor compare` on a store with two runs.

use std::fs;
use std::path::Path;
use std::process::Command;

use mcproctor::record::RunState;
use mcproctor::store::Store;
use mcproctor_proto::evidence::EvidenceKind;
use serde_json::Value;
use tempfile::TempDir;

use crate::planted::{Planted, before_and_after};

async fn keep(store: &Store, planted: &Planted) {
    let record = planted.record();
    store.create_run(&record).await.unwrap();
    let (sha256, list) = planted.tool_list();
    store.put_evidence(EvidenceKind::ToolList, &sha256, list).await.unwrap();
    for attempt in planted.attempts() {
        store.put_attempt(&record.id, 1, &attempt).await.unwrap();
    }
    store.set_state(&record.id, RunState::Completed).await.unwrap();
}

/// A folder with `reports`, in which both runs are.
async fn folder_with_two_runs() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(&folder.path().join("reports")).unwrap();
    let (before, after) = before_and_after();
    keep(&store, &before).await;
    keep(&store, &after).await;
    folder
}

/// Exit code, standard output, standard error.
fn compare(folder: &Path, arguments: &[&str]) -> (i32, String, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_mcproctor"))
        .arg("compare")
        .args(arguments)
        .current_dir(folder)
        .output()
        .unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

#[tokio::test]
async fn two_runs_are_found_by_the_beginning_of_an_id_and_as_the_latest() {
    let folder = folder_with_two_runs().await;
    let (code, text, errors) = compare(folder.path(), &["2026-11-05", "latest"]);
    assert_eq!((code, errors.as_str()), (0, ""));
    assert!(
        text.starts_with("A  claude in run 2026-11-05T07-00-00-aaaa\n"),
        "{text}"
    );
    assert!(text.contains("These prompts: difference shown"), "{text}");
    // The tool lists come from the store.
    assert!(text.contains("weather · start_here: only on side B"), "{text}");

    // The config says where the runs lie.
    fs::write(
        folder.path().join("my.yaml"),
        "mcp: {url: http://127.0.0.1:1/mcp}\ntestcases: {path: ./cases}\nreport: {outDir: ./reports}\n",
    )
    .unwrap();
    let (code, same, errors) = compare(folder.path(), &["-c", "my.yaml", "2026-11-05", "latest"]);
    assert_eq!((code, errors.as_str()), (0, ""));
    assert_eq!(same, text);

    // From elsewhere, with the folder named; swapped, the difference has the other sign.
    let elsewhere = tempfile::tempdir().unwrap();
    let reports = folder.path().join("reports");
    let store = reports.to_str().unwrap();
    let (code, text, _) = compare(
        elsewhere.path(),
        &["--out-dir", store, "latest", "2026-11-05T07-00-00-aaaa"],
    );
    assert_eq!(code, 0);
    assert!(text.contains("points less often than A"), "{text}");
}

#[tokio::test]
async fn the_name_of_the_file_chooses_the_format_and_every_format_says_the_same() {
    let folder = folder_with_two_runs().await;
    for file in ["c.html", "c.md", "c.json", "c.txt"] {
        let (code, stdout, errors) = compare(folder.path(), &["2026-11-05", "2026-11-06", "-o", file]);
        assert_eq!((code, stdout.as_str(), errors.as_str()), (0, "", ""), "{file}");
    }
    let read = |file: &str| fs::read_to_string(folder.path().join(file)).unwrap();
    let json: Value = serde_json::from_str(&read("c.json")).unwrap();
    assert_eq!(json["comparisons"][0]["thesePrompts"]["verdict"], "difference_shown");
    assert!(read("c.html").starts_with("<!doctype html>"));
    assert!(read("c.md").starts_with("## `claude`: difference shown\n"));
    let (_, stdout, _) = compare(folder.path(), &["2026-11-05", "2026-11-06", "--format", "text"]);
    assert_eq!(read("c.txt"), stdout);
}

#[tokio::test]
async fn a_comparison_that_cannot_be_made_is_a_usage_error_with_its_reason() {
    let folder = folder_with_two_runs().await;
    for (arguments, reason) in [
        (&["2026-11-05"][..], "choose two agents of run 2026-11-05T07-00-00-aaaa"),
        (&["latest", "latest"], "with itself"),
        (&["2026-11", "latest"], "2 runs begin so; give more of the id"),
        (&["nightly", "latest"], "find the run nightly"),
        (&["", "latest"], "find a run without a name"),
        (&["2026-11-05", "latest", "--agent", "codex"], "it has claude"),
        (
            &["2026-11-05", "latest", "--margin", "0"],
            "not a number of points between 0 and 100",
        ),
        (&["2026-11-05", "latest", "--out-dir", "nowhere"], "nowhere"),
    ] {
        let (code, stdout, errors) = compare(folder.path(), arguments);
        assert_eq!((code, stdout.as_str()), (2, ""), "{arguments:?}: {errors}");
        assert!(errors.contains(reason), "{arguments:?}: {errors}");
    }
}

#[tokio::test]
async fn a_wider_margin_shows_equivalence_where_a_narrower_does_not() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(&folder.path().join("reports")).unwrap();
    for id in ["one", "two"] {
        keep(&store, &crate::planted::run(id, &[crate::planted::of(38, 2); 4])).await;
    }
    let verdict = |margin: &str| {
        let (code, json, errors) = compare(folder.path(), &["one", "two", "--format", "json", "--margin", margin]);
        assert_eq!(code, 0, "{errors}");
        let json: Value = serde_json::from_str(&json).unwrap();
        json["comparisons"][0]["thesePrompts"]["verdict"]
            .as_str()
            .unwrap()
            .to_owned()
    };
    assert_eq!(verdict("10"), "equivalent");
    assert_eq!(verdict("2"), "too_few_to_tell");
}
