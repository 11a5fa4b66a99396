//! The file that a large upload goes into until it is complete.

use std::fs::{self, File, TryLockError};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use mcproctor_proto::evidence::EvidenceKind;
use sha2::{Digest, Sha256};
use tempfile::NamedTempFile;

use super::error::StoreError;
use super::hash::ContentHash;
use super::layout::{Layout, private_file};
use super::object;

/// A file that an upload goes into, and the hash of what is in it.
#[derive(Debug)]
pub(super) struct Spooled {
    place: SpoolPlace,
    hasher: Sha256,
}

#[derive(Debug)]
pub(super) enum SpoolPlace {
    /// Found again by the piece's hash; locked by this upload.
    Resumable(File, PathBuf),
    /// Another upload of the same piece is under way.
    Private(NamedTempFile),
}

impl Spooled {
    pub(super) fn open(layout: &Layout, hash: &ContentHash, offset: u64) -> Result<Self, StoreError> {
        let path = path_of(layout, hash);
        let failed = |error| StoreError::io("write to", &path, error);
        let mut file = private_file()
            .create(true)
            .truncate(false)
            .open(&path)
            .map_err(failed)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) if offset == 0 => {
                let place = SpoolPlace::Private(object::spool(layout)?);
                return Ok(Self {
                    place,
                    hasher: Sha256::new(),
                });
            }
            Err(TryLockError::WouldBlock) => return Err(wrong_offset(hash, offset, 0)),
            Err(TryLockError::Error(error)) => return Err(failed(error)),
        }
        let have = file.metadata().map_err(failed)?.len();
        if have < offset {
            return Err(wrong_offset(hash, offset, have));
        }
        let hasher = rewind(&mut file, offset).map_err(failed)?;
        Ok(Self {
            place: SpoolPlace::Resumable(file, path),
            hasher,
        })
    }

    pub(super) fn write(&mut self, block: &[u8]) -> Result<(), StoreError> {
        self.hasher.update(block);
        let written = self.place.file().write_all(block);
        written.map_err(|error| StoreError::io("write to", self.place.path(), error))
    }

    /// Compresses what came, if it is what was announced.
    pub(super) fn compress(
        mut self,
        layout: &Layout,
        kind: EvidenceKind,
        hash: ContentHash,
        bytes: u64,
    ) -> Result<(object::Compressed, SpoolPlace), StoreError> {
        let found = ContentHash::finish(self.hasher);
        if found != hash {
            self.place.remove();
            return Err(StoreError::WrongHash {
                sha256: hash.to_string(),
                found: found.to_string(),
            });
        }
        let path = self.place.path().to_owned();
        let file = self.place.file();
        file.seek(SeekFrom::Start(0))
            .map_err(|error| StoreError::io("read", &path, error))?;
        let compressed = object::compress(layout, kind, hash, bytes, file.take(bytes))?;
        Ok((compressed, self.place))
    }
}

impl SpoolPlace {
    fn file(&mut self) -> &mut File {
        match self {
            Self::Resumable(file, _) => file,
            Self::Private(spool) => spool.as_file_mut(),
        }
    }

    fn path(&self) -> &Path {
        match self {
            Self::Resumable(_, path) => path,
            Self::Private(spool) => spool.path(),
        }
    }

    pub(super) fn remove(self) {
        // A file that stays is swept away a day later.
        let _ = match self {
            Self::Resumable(_, path) => fs::remove_file(path),
            Self::Private(spool) => spool.close(),
        };
    }
}

/// Where an upload of `bytes` bytes can go on; blocks.
pub(super) fn resume_at(layout: &Layout, hash: &ContentHash, bytes: u64) -> u64 {
    let open = || -> io::Result<u64> {
        let file = File::open(path_of(layout, hash))?;
        let free = file.try_lock_shared().is_ok();
        Ok(if free { file.metadata()?.len() } else { 0 })
    };
    open().ok().filter(|have| *have <= bytes).unwrap_or(0)
}

/// Cuts the file to its first `offset` bytes and hashes them.
fn rewind(file: &mut File, offset: u64) -> io::Result<Sha256> {
    file.set_len(offset)?;
    file.seek(SeekFrom::Start(0))?;
    let mut hasher = Sha256::new();
    let mut block = vec![0; 64 << 10];
    loop {
        match file.read(&mut block)? {
            0 => return Ok(hasher),
            read => hasher.update(&block[..read]),
        }
    }
}

fn path_of(layout: &Layout, hash: &ContentHash) -> PathBuf {
    layout.partial().join(hash.to_string())
}

pub(super) fn wrong_offset(hash: &ContentHash, offset: u64, have: u64) -> StoreError {
    StoreError::WrongOffset {
        sha256: hash.to_string(),
        offset,
        have,
    }
}
