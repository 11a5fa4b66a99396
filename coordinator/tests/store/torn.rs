//! A writer that died at any byte of a piece.

use std::fs;
use std::path::Path;

use mcproctor::store::Store;
use mcproctor_proto::evidence::EvidenceKind;

use crate::sample::{noise, put, sha256};

/// Copies a closed store.
fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let target = to.join(path.file_name().unwrap());
        if path.is_dir() {
            copy(&path, &target);
        } else {
            fs::copy(&path, &target).unwrap();
        }
    }
}

#[tokio::test]
async fn a_tail_torn_at_any_byte_costs_only_what_was_not_acknowledged() {
    let folder = tempfile::tempdir().unwrap();
    let (acknowledged, torn, next) = (noise(1, 500), noise(2, 90), noise(3, 70));
    let before = folder.path().join("before");
    put(&Store::open(&before).unwrap(), EvidenceKind::Calls, &acknowledged).await;
    // The bytes that a writer would have appended next.
    let whole = folder.path().join("whole");
    copy(&before, &whole);
    put(&Store::open(&whole).unwrap(), EvidenceKind::Wire, &torn).await;
    let pack = "evidence/packs/0001.pack";
    let end = fs::metadata(before.join(pack)).unwrap().len() as usize;
    let bytes = fs::read(whole.join(pack)).unwrap();

    for cut in end..=bytes.len() {
        // A lost tail, and one whose length reached the disk before its content.
        for zeros in [0, bytes.len() - cut] {
            let dir = folder.path().join(format!("cut-{cut}-{zeros}"));
            copy(&before, &dir);
            let mut tail = bytes[..cut].to_vec();
            tail.resize(cut + zeros, 0);
            fs::write(dir.join(pack), tail).unwrap();

            let store = Store::open(&dir).unwrap();
            put(&store, EvidenceKind::Stderr, &next).await;
            let reader = store.reader().unwrap();
            assert_eq!(
                reader.evidence(&sha256(&acknowledged)).unwrap().unwrap(),
                acknowledged,
                "cut at {cut}"
            );
            assert_eq!(reader.evidence(&sha256(&next)).unwrap().unwrap(), next, "cut at {cut}");
            // What had arrived whole is taken over.
            let adopted = reader.evidence(&sha256(&torn)).unwrap();
            assert_eq!(adopted.is_some(), cut == bytes.len(), "cut at {cut}");
            fs::remove_dir_all(&dir).unwrap();
        }
    }
}

#[tokio::test]
async fn a_pack_that_lost_acknowledged_bytes_is_not_written_over() {
    let folder = tempfile::tempdir().unwrap();
    let (kept, lost, next) = (noise(1, 500), noise(2, 500), noise(3, 500));
    let store = Store::open(folder.path()).unwrap();
    put(&store, EvidenceKind::Calls, &kept).await;
    put(&store, EvidenceKind::Calls, &lost).await;
    drop(store);
    let pack = folder.path().join("evidence/packs/0001.pack");
    let content = fs::read(&pack).unwrap();
    fs::write(&pack, &content[..content.len() - 1]).unwrap();

    let store = Store::open(folder.path()).unwrap();
    put(&store, EvidenceKind::Calls, &next).await;
    let reader = store.reader().unwrap();
    assert_eq!(reader.evidence(&sha256(&kept)).unwrap().unwrap(), kept);
    assert!(
        reader
            .evidence(&sha256(&lost))
            .unwrap_err()
            .to_string()
            .contains(&sha256(&lost))
    );
    assert_eq!(reader.evidence(&sha256(&next)).unwrap().unwrap(), next);
    assert!(folder.path().join("evidence/packs/0002.pack").is_file());
}

#[tokio::test]
async fn two_writers_in_one_folder_have_a_pack_each() {
    let folder = tempfile::tempdir().unwrap();
    let (one, other) = (Store::open(folder.path()).unwrap(), Store::open(folder.path()).unwrap());
    for number in 0..20 {
        put(&one, EvidenceKind::Calls, &noise(number, 100)).await;
        put(&other, EvidenceKind::Calls, &noise(100 + number, 100)).await;
    }
    drop((one, other));
    let store = Store::open(folder.path()).unwrap();
    let reader = store.reader().unwrap();
    for number in (0..20).chain(100..120) {
        assert!(reader.evidence(&sha256(&noise(number, 100))).unwrap().is_some());
    }
    // The next writer goes on with the newest.
    put(&store, EvidenceKind::Calls, b"one more").await;
    assert_eq!(fs::read_dir(folder.path().join("evidence/packs")).unwrap().count(), 2);
}
