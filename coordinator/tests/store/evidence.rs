//! Evidence by content: deduplicated, resumable, verified.

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use mcproctor::store::{Have, Store, StoreError};
use mcproctor_proto::evidence::EvidenceKind;

use crate::sample::{noise, put, sha256};

fn pack(dir: &Path) -> PathBuf {
    dir.join("evidence/packs/0001.pack")
}

fn files_under(dir: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files_under(&path))
        } else {
            found.push(path)
        }
    }
    found
}

#[tokio::test]
async fn pieces_of_every_size_come_back_and_large_ones_have_files_of_their_own() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path()).unwrap();
    let pieces =
        [0, 1, 1000, (1 << 20) - 1, 1 << 20, (1 << 20) + 1, 3 << 20].map(|length| noise(length as u64, length));
    for piece in &pieces {
        put(&store, EvidenceKind::Wire, piece).await;
    }
    put(&store, EvidenceKind::Transcript, &vec![b'a'; 30 << 20]).await;
    let objects = files_under(&folder.path().join("evidence/objects"));
    assert_eq!(objects.len(), 2, "{objects:?}");
    let large = sha256(&pieces[6]);
    assert!(
        objects.contains(
            &folder
                .path()
                .join("evidence/objects")
                .join(&large[..2])
                .join(&large[2..])
        )
    );
    assert_eq!(files_under(&folder.path().join("evidence/partial")), [] as [PathBuf; 0]);

    drop(store);
    let reader = Store::open(folder.path()).unwrap().reader().unwrap();
    for piece in &pieces {
        assert!(
            reader.evidence(&sha256(piece)).unwrap().unwrap() == *piece,
            "{} bytes",
            piece.len()
        );
    }
    let mut long = reader.evidence_reader(&sha256(&vec![b'a'; 30 << 20])).unwrap().unwrap();
    assert_eq!((long.kind(), long.size()), (EvidenceKind::Transcript, 30 << 20));
    assert_eq!(std::io::copy(&mut long, &mut std::io::sink()).unwrap(), 30 << 20);
    assert!(reader.evidence(&sha256(b"never stored")).unwrap().is_none());
}

#[tokio::test]
async fn the_same_tool_list_is_stored_once_however_often_it_comes() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path()).unwrap();
    let list = noise(1, 4000);
    put(&store, EvidenceKind::ToolList, &list).await;
    let size = fs::metadata(pack(folder.path())).unwrap().len();
    let again = (0..50).map(|_| {
        let (store, list) = (store.clone(), list.clone());
        tokio::spawn(async move { put(&store, EvidenceKind::ToolList, &list).await })
    });
    for task in again.collect::<Vec<_>>() {
        task.await.unwrap();
    }
    assert_eq!(fs::metadata(pack(folder.path())).unwrap().len(), size);
    let (one, two) = tokio::join!(
        put(&store, EvidenceKind::ToolList, b"new, twice at once"),
        put(&store, EvidenceKind::ToolList, b"new, twice at once")
    );
    assert_eq!(one, two);
    let content = fs::read(pack(folder.path())).unwrap();
    assert_eq!(content.windows(4).filter(|window| *window == b"MCPE").count(), 2);
}

#[tokio::test]
async fn bytes_with_another_hash_are_refused_by_name() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path()).unwrap();
    let announced = sha256(b"announced");
    match store
        .put_evidence(EvidenceKind::Calls, &announced, b"other".to_vec())
        .await
    {
        Err(StoreError::WrongHash { sha256: name, found }) => {
            assert_eq!((name, found), (announced.clone(), sha256(b"other")))
        }
        other => panic!("{other:?}"),
    }
    assert!(matches!(
        store.put_evidence(EvidenceKind::Calls, "../x", b"x".to_vec()).await,
        Err(StoreError::BadHash { .. })
    ));
    assert_eq!(
        store.evidence_have(&announced, 9).await.unwrap(),
        Have {
            complete: false,
            offset: 0
        }
    );
}

#[tokio::test]
async fn a_cut_upload_goes_on_where_it_was_cut_even_in_another_process() {
    let folder = tempfile::tempdir().unwrap();
    let piece = noise(2, 5 << 20);
    let (hash, length) = (sha256(&piece), piece.len() as u64);
    let store = Store::open(folder.path()).unwrap();
    let mut upload = store
        .begin_evidence(EvidenceKind::Wire, &hash, length, 0)
        .await
        .unwrap();
    for chunk in piece[..3 << 20].chunks(64 << 10) {
        upload.append(chunk).await.unwrap();
    }
    drop(upload);
    drop(store);

    let store = Store::open(folder.path()).unwrap();
    let have = store.evidence_have(&hash, length).await.unwrap();
    assert_eq!(
        have,
        Have {
            complete: false,
            offset: 3 << 20
        }
    );
    let beyond = store
        .begin_evidence(EvidenceKind::Wire, &hash, length, have.offset + 1)
        .await;
    assert!(
        matches!(beyond, Err(StoreError::WrongOffset { have: 0x30_0000, .. })),
        "{beyond:?}"
    );
    let mut upload = store
        .begin_evidence(EvidenceKind::Wire, &hash, length, have.offset)
        .await
        .unwrap();
    for chunk in piece[3 << 20..].chunks(64 << 10) {
        upload.append(chunk).await.unwrap();
    }
    assert_eq!(upload.finish().await.unwrap(), length);
    assert_eq!(
        store.evidence_have(&hash, length).await.unwrap(),
        Have {
            complete: true,
            offset: length
        }
    );
    assert!(store.reader().unwrap().evidence(&hash).unwrap().unwrap() == piece);
    assert_eq!(files_under(&folder.path().join("evidence/partial")), [] as [PathBuf; 0]);
    // Sent once more, it is only acknowledged.
    let mut upload = store
        .begin_evidence(EvidenceKind::Wire, &hash, length, 0)
        .await
        .unwrap();
    upload.append(&piece).await.unwrap();
    assert_eq!(upload.finish().await.unwrap(), length);
}

#[tokio::test]
async fn uploads_of_the_wrong_bytes_or_number_of_bytes_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path()).unwrap();
    for length in [1000, 2 << 20] {
        let (piece, other) = (noise(3, length), noise(4, length));
        let (hash, length) = (sha256(&piece), length as u64);
        let begin = || store.begin_evidence(EvidenceKind::Wire, &hash, length, 0);

        let mut upload = begin().await.unwrap();
        upload.append(&other).await.unwrap();
        assert!(matches!(upload.finish().await, Err(StoreError::WrongHash { .. })));

        let mut upload = begin().await.unwrap();
        upload.append(&piece).await.unwrap();
        assert!(matches!(upload.append(b"x").await, Err(StoreError::WrongSize { .. })));
        drop(upload);

        let mut upload = begin().await.unwrap();
        upload.append(&piece[1..]).await.unwrap();
        assert!(matches!(upload.finish().await, Err(StoreError::WrongSize { .. })));

        assert!(!store.evidence_have(&hash, length).await.unwrap().complete);
        assert!(store.reader().unwrap().evidence(&hash).unwrap().is_none());
    }
}

#[tokio::test]
async fn two_workers_may_upload_the_same_large_piece_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path()).unwrap();
    let piece = noise(5, 2 << 20);
    let (hash, length) = (sha256(&piece), piece.len() as u64);
    let begin = || store.begin_evidence(EvidenceKind::ToolList, &hash, length, 0);
    let (mut one, mut other) = (begin().await.unwrap(), begin().await.unwrap());
    for chunk in piece.chunks(100_000) {
        one.append(chunk).await.unwrap();
        other.append(chunk).await.unwrap();
    }
    let (one, other) = tokio::join!(one.finish(), other.finish());
    assert_eq!((one.unwrap(), other.unwrap()), (length, length));
    assert!(store.reader().unwrap().evidence(&hash).unwrap().unwrap() == piece);
}

#[tokio::test]
async fn a_damaged_piece_is_named_and_never_read_as_something_else() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path()).unwrap();
    let small = put(&store, EvidenceKind::Calls, &noise(6, 300)).await;
    let large = put(&store, EvidenceKind::Wire, &noise(7, 2 << 20)).await;
    let reader = store.reader().unwrap();
    let object = folder
        .path()
        .join("evidence/objects")
        .join(&large.sha256[..2])
        .join(&large.sha256[2..]);
    for (piece, path, stride) in [(&small, pack(folder.path()), 1), (&large, object, 100_003)] {
        let sound = fs::read(&path).unwrap();
        for at in (0..sound.len()).step_by(stride) {
            let mut damaged = sound.clone();
            damaged[at] ^= 0x10;
            fs::write(&path, &damaged).unwrap();
            match reader.evidence(&piece.sha256) {
                // Bits of a frame's header that say nothing about its content may change without harm.
                Ok(Some(bytes)) => assert_eq!(sha256(&bytes), piece.sha256, "byte {at}"),
                Err(StoreError::CorruptEvidence { sha256, place, .. }) => {
                    assert_eq!((sha256, place), (piece.sha256.clone(), path.clone()))
                }
                other => panic!("byte {at}: {other:?}"),
            }
        }
        fs::write(&path, &sound[..sound.len() - 1]).unwrap();
        assert!(matches!(
            reader.evidence(&piece.sha256),
            Err(StoreError::CorruptEvidence { .. })
        ));
        let mut streamed = Vec::new();
        let error = reader
            .evidence_reader(&piece.sha256)
            .unwrap()
            .unwrap()
            .read_to_end(&mut streamed)
            .unwrap_err();
        assert!(error.to_string().contains(&piece.sha256), "{error}");
        fs::remove_file(&path).unwrap();
        let error = reader.evidence(&piece.sha256).unwrap_err();
        assert!(error.to_string().contains("the file is gone"), "{error}");
        fs::write(&path, &sound).unwrap();
        assert!(reader.evidence(&piece.sha256).unwrap().is_some());
    }
}

#[tokio::test]
async fn a_piece_whose_file_was_deleted_is_stored_anew_when_it_comes_again() {
    let folder = tempfile::tempdir().unwrap();
    let (small, large) = (noise(8, 4000), noise(9, 2 << 20));
    let store = Store::open(folder.path()).unwrap();
    put(&store, EvidenceKind::ToolList, &small).await;
    put(&store, EvidenceKind::Wire, &large).await;
    drop(store);
    fs::remove_dir_all(folder.path().join("evidence")).unwrap();

    let store = Store::open(folder.path()).unwrap();
    let reader = store.reader().unwrap();
    for piece in [&small, &large] {
        let have = store.evidence_have(&sha256(piece), piece.len() as u64).await.unwrap();
        assert_eq!(
            have,
            Have {
                complete: false,
                offset: 0
            }
        );
        assert!(matches!(
            reader.evidence(&sha256(piece)),
            Err(StoreError::CorruptEvidence { .. })
        ));
        put(&store, EvidenceKind::Wire, piece).await;
        assert!(reader.evidence(&sha256(piece)).unwrap().unwrap() == *piece);
    }
}
