//! What is created, and what is left alone.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use mcproctor::store::{Reader, Store, StoreError};

use crate::sample::run;

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

#[tokio::test]
async fn prompts_and_evidence_are_the_owner_s_alone() {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().join("reports/of/mine");
    let store = Store::open(&dir).unwrap();
    store.create_run(&run("r1", 1)).await.unwrap();
    crate::sample::put(&store, mcproctor_proto::evidence::EvidenceKind::Wire, b"x").await;
    for file in [
        "mcproctor.db",
        "mcproctor.db-wal",
        "mcproctor.db-shm",
        "evidence/packs/0001.pack",
    ] {
        assert_eq!(mode(&dir.join(file)), 0o600, "{file}");
    }
    for sub in [
        "evidence",
        "evidence/packs",
        "evidence/objects",
        "evidence/partial",
        "locks",
    ] {
        assert_eq!(mode(&dir.join(sub)), 0o700, "{sub}");
    }
}

#[test]
fn reading_creates_nothing() {
    let folder = tempfile::tempdir().unwrap();
    assert!(matches!(Reader::open(folder.path()), Err(StoreError::Missing { .. })));
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn a_store_of_a_newer_version_is_refused_and_not_touched() {
    let folder = tempfile::tempdir().unwrap();
    drop(Store::open(folder.path()).unwrap());
    let path = folder.path().join("mcproctor.db");
    rusqlite::Connection::open(&path)
        .unwrap()
        .pragma_update(None, "user_version", 4711)
        .unwrap();
    for refused in [
        Store::open(folder.path()).map(drop),
        Reader::open(folder.path()).map(drop),
    ] {
        let error = refused.unwrap_err();
        assert!(matches!(error, StoreError::Newer { found: 4711, .. }), "{error:?}");
        assert!(
            error.to_string().contains("a newer mcproctor has written it"),
            "{error}"
        );
    }
    let version: i64 = rusqlite::Connection::open(&path)
        .unwrap()
        .pragma_query_value(None, "user_version", |row| row.get(0))
        .unwrap();
    assert_eq!(version, 4711);
}

#[test]
fn somebody_else_s_database_or_file_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("mcproctor.db");
    rusqlite::Connection::open(&path)
        .unwrap()
        .execute_batch("CREATE TABLE theirs (x)")
        .unwrap();
    assert!(matches!(Store::open(folder.path()), Err(StoreError::Foreign { .. })));
    fs::write(&path, "not a database, but long enough to be one: ".repeat(40)).unwrap();
    assert!(matches!(Store::open(folder.path()), Err(StoreError::Foreign { .. })));
}

#[test]
fn many_processes_may_open_a_new_store_at_once() {
    let folder = tempfile::tempdir().unwrap();
    std::thread::scope(|scope| {
        let opened: Vec<_> = (0..8)
            .map(|_| scope.spawn(|| Store::open(folder.path()).map(drop)))
            .collect();
        for thread in opened {
            thread.join().unwrap().unwrap();
        }
    });
}
