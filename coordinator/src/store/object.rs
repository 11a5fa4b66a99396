//! Large pieces: compressed, each in a file of its own.

use std::fs::{self, File, TryLockError};
use std::io::{self, Read, Seek, SeekFrom};
use std::time::{Duration, SystemTime};

use mcproctor_proto::evidence::EvidenceKind;
use tempfile::NamedTempFile;

use super::error::StoreError;
use super::hash::ContentHash;
use super::layout::{Layout, private_dir, sync_dir};
use super::piece::{Piece, PieceHeader};
use super::row::LEVEL;

/// Compressed pieces beyond this get a file of their own.
pub(super) const LARGE: u64 = 1 << 20;

/// The prefix of files that mean nothing once their process is gone.
const SPOOL_PREFIX: &str = "tmp-";

/// An upload that nobody went on with for this long is given up.
const KEEP_PARTIAL: Duration = Duration::from_secs(24 * 60 * 60);

/// A compressed piece, before the database knows of it.
#[derive(Debug)]
pub(super) enum Compressed {
    /// To be appended to a pack.
    Small(Piece),
    /// Durable in a file of its own already.
    Large(PieceHeader),
}

/// Compresses `source` in constant memory. A large piece is in place and synced when this returns.
pub(super) fn compress(
    layout: &Layout,
    kind: EvidenceKind,
    hash: ContentHash,
    bytes: u64,
    mut source: impl Read,
) -> Result<Compressed, StoreError> {
    let mut spool = spool(layout)?;
    let path = spool.path().to_owned();
    let failed = |error| StoreError::io("write to", &path, error);
    zstd::stream::copy_encode(&mut source, spool.as_file_mut(), LEVEL).map_err(failed)?;
    let stored_bytes = spool.as_file().metadata().map_err(failed)?.len();
    if stored_bytes <= LARGE {
        let mut compressed = Vec::with_capacity(usize::try_from(stored_bytes).unwrap_or_default());
        spool.as_file_mut().seek(SeekFrom::Start(0)).map_err(failed)?;
        spool.as_file_mut().read_to_end(&mut compressed).map_err(failed)?;
        return Ok(Compressed::Small(Piece::new(kind, hash, bytes, &compressed)));
    }
    settle(layout, &hash, spool)?;
    Ok(Compressed::Large(PieceHeader {
        kind,
        hash,
        bytes,
        stored_bytes,
    }))
}

/// The same for bytes in memory, without a file where none is needed.
pub(super) fn compress_slice(
    layout: &Layout,
    kind: EvidenceKind,
    hash: ContentHash,
    bytes: &[u8],
) -> Result<Compressed, StoreError> {
    if bytes.len() as u64 > LARGE {
        return compress(layout, kind, hash, bytes.len() as u64, bytes);
    }
    let compressed =
        zstd::bulk::compress(bytes, LEVEL).map_err(|error| StoreError::io("compress into", layout.root(), error))?;
    Ok(Compressed::Small(Piece::new(
        kind,
        hash,
        bytes.len() as u64,
        &compressed,
    )))
}

/// Content first, then the name, then the folders that hold the name.
fn settle(layout: &Layout, hash: &ContentHash, spool: NamedTempFile) -> Result<(), StoreError> {
    let target = layout.object(hash);
    spool
        .as_file()
        .sync_all()
        .map_err(|error| StoreError::io("sync", spool.path(), error))?;
    if let Some(folder) = target.parent() {
        private_dir(folder)?;
        spool
            .persist(&target)
            .map_err(|error| StoreError::io("create", &target, error.error))?;
        sync_dir(folder)?;
    }
    sync_dir(&layout.objects())
}

/// A file for passing use, locked as long as it is open so that no other process sweeps it away.
pub(super) fn spool(layout: &Layout) -> Result<NamedTempFile, StoreError> {
    let folder = layout.partial();
    let failed = |error| StoreError::io("create a file in", &folder, error);
    let spool = tempfile::Builder::new()
        .prefix(SPOOL_PREFIX)
        .tempfile_in(&folder)
        .map_err(failed)?;
    match spool.as_file().try_lock() {
        // Only a sweep can hold a file this new, and it lets go at once.
        Ok(()) | Err(TryLockError::WouldBlock) => Ok(spool),
        Err(TryLockError::Error(error)) => Err(failed(error)),
    }
}

/// Removes what killed processes have left behind; uploads that may go on are kept for a day.
pub(super) fn sweep(layout: &Layout, now: SystemTime) -> Result<(), StoreError> {
    let folder = layout.partial();
    let failed = |error| StoreError::io("list", &folder, error);
    for entry in fs::read_dir(&folder).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        let spool = path
            .file_name()
            .is_some_and(|name| name.to_string_lossy().starts_with(SPOOL_PREFIX));
        let stale = |file: &File| -> io::Result<bool> {
            let age = now.duration_since(file.metadata()?.modified()?).unwrap_or_default();
            Ok(spool || age > KEEP_PARTIAL)
        };
        // A file that vanished meanwhile, or that cannot be opened, is somebody else's.
        let Ok(file) = File::open(&path) else { continue };
        if file.try_lock().is_ok() && stale(&file).unwrap_or(false) {
            let _ = fs::remove_file(&path);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may fail by panicking")]

    use super::*;

    #[test]
    fn a_sweep_removes_what_is_stale_and_leaves_what_is_in_use_or_may_go_on() {
        let folder = tempfile::tempdir().unwrap();
        let layout = Layout::new(folder.path());
        layout.create().unwrap();
        let now = SystemTime::now();
        let file = |name: &str, age: Duration| {
            let path = layout.partial().join(name);
            File::create(&path).unwrap().set_modified(now - age).unwrap();
            path
        };
        let hour = Duration::from_secs(3600);
        let killed = file("tmp-killed", hour);
        let abandoned = file("aa", 25 * hour);
        let cut = file("bb", 23 * hour);
        let slow = file("cc", 25 * hour);
        let upload = File::open(&slow).unwrap();
        upload.try_lock().unwrap();
        let in_use = spool(&layout).unwrap();

        sweep(&layout, now).unwrap();
        assert_eq!([&killed, &abandoned].map(|path| path.exists()), [false, false]);
        assert_eq!([&cut, &slow].map(|path| path.exists()), [true, true]);
        assert!(in_use.path().exists());
    }
}
