//! Evidence that arrives in parts.

use std::fs::{self, File, TryLockError};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use mcproctor_proto::evidence::EvidenceKind;
use sha2::{Digest, Sha256};
use tempfile::NamedTempFile;

use super::error::StoreError;
use super::handle::{Store, off_thread};
use super::hash::ContentHash;
use super::layout::{Layout, private_file};
use super::object;

/// Smaller pieces are gathered in memory: going on with them after a cut would save nothing.
const IN_MEMORY: u64 = 256 << 10;

/// Parts are written to the file in blocks of this size.
const BLOCK: usize = 256 << 10;

/// One upload of one piece. Dropped before it is finished, it leaves what came so far for the next one to go on with.
#[derive(Debug)]
pub struct Upload {
    store: Store,
    kind: EvidenceKind,
    hash: ContentHash,
    announced: u64,
    received: u64,
    pending: Vec<u8>,
    sink: Sink,
}

#[derive(Debug)]
enum Sink {
    /// The piece was here before; what comes is not looked at.
    Known,
    /// Everything is in `pending`.
    Memory,
    /// `None` only while a block is being written.
    File(Option<Box<Spooled>>),
}

/// A file that an upload goes into, and the hash of what is in it.
#[derive(Debug)]
struct Spooled {
    place: SpoolPlace,
    hasher: Sha256,
}

#[derive(Debug)]
enum SpoolPlace {
    /// Found again by the piece's hash; locked by this upload.
    Resumable(File, PathBuf),
    /// Another upload of the same piece is under way.
    Private(NamedTempFile),
}

impl Upload {
    pub(super) async fn begin(
        store: Store,
        kind: EvidenceKind,
        hash: ContentHash,
        announced: u64,
        offset: u64,
    ) -> Result<Self, StoreError> {
        let opener = store.clone();
        let sink = off_thread(move || {
            if opener.knows(&hash)? {
                return Ok(Sink::Known);
            }
            if announced <= IN_MEMORY {
                return if offset == 0 {
                    Ok(Sink::Memory)
                } else {
                    Err(wrong_offset(&hash, offset, 0))
                };
            }
            if offset > announced {
                return Err(wrong_offset(&hash, offset, 0));
            }
            Ok(Sink::File(Some(Box::new(Spooled::open(
                opener.layout(),
                &hash,
                offset,
            )?))))
        })
        .await?;
        Ok(Self {
            store,
            kind,
            hash,
            announced,
            received: offset,
            pending: Vec::new(),
            sink,
        })
    }

    /// Takes the next bytes.
    ///
    /// # Errors
    /// [`StoreError::WrongSize`] when more come than were announced, or what stopped the write.
    pub async fn append(&mut self, bytes: &[u8]) -> Result<(), StoreError> {
        if matches!(self.sink, Sink::Known) {
            return Ok(());
        }
        self.received = self.received.saturating_add(bytes.len() as u64);
        if self.received > self.announced {
            return Err(self.wrong_size());
        }
        self.pending.extend_from_slice(bytes);
        if self.pending.len() >= BLOCK {
            self.write_pending().await
        } else {
            Ok(())
        }
    }

    /// Verifies the piece and makes it durable. Returns its size.
    ///
    /// # Errors
    /// [`StoreError::WrongSize`] when bytes are missing (what came is kept), [`StoreError::WrongHash`] when they are
    /// others than announced (they are thrown away), or what stopped the write.
    pub async fn finish(mut self) -> Result<u64, StoreError> {
        if matches!(self.sink, Sink::Known) {
            return Ok(self.announced);
        }
        self.write_pending().await?;
        if self.received < self.announced {
            return Err(self.wrong_size());
        }
        let (kind, hash, announced) = (self.kind, self.hash, self.announced);
        let Sink::File(spooled) = &mut self.sink else {
            return self
                .store
                .put_evidence(kind, &hash.to_string(), std::mem::take(&mut self.pending))
                .await;
        };
        let Some(spooled) = spooled.take() else {
            return Err(StoreError::WriterGone);
        };
        let layout = self.store.layout().clone();
        let (compressed, place) = off_thread(move || spooled.compress(&layout, kind, hash, announced)).await?;
        self.store.enter(compressed).await?;
        off_thread(move || {
            place.remove();
            Ok(())
        })
        .await?;
        Ok(announced)
    }

    async fn write_pending(&mut self) -> Result<(), StoreError> {
        let Sink::File(slot) = &mut self.sink else {
            return Ok(());
        };
        if self.pending.is_empty() {
            return Ok(());
        }
        // A block that failed has left the upload without its file: it cannot go on.
        let Some(mut spooled) = slot.take() else {
            return Err(StoreError::WriterGone);
        };
        let mut block = std::mem::take(&mut self.pending);
        let (spooled, block) = off_thread(move || {
            spooled.write(&block)?;
            block.clear();
            Ok((spooled, block))
        })
        .await?;
        *slot = Some(spooled);
        self.pending = block;
        Ok(())
    }

    fn wrong_size(&self) -> StoreError {
        StoreError::WrongSize {
            sha256: self.hash.to_string(),
            announced: self.announced,
            found: self.received,
        }
    }
}

impl Spooled {
    fn open(layout: &Layout, hash: &ContentHash, offset: u64) -> Result<Self, StoreError> {
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

    fn write(&mut self, block: &[u8]) -> Result<(), StoreError> {
        self.hasher.update(block);
        let written = self.place.file().write_all(block);
        written.map_err(|error| StoreError::io("write to", self.place.path(), error))
    }

    /// Compresses what came, if it is what was announced.
    fn compress(
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

    fn remove(self) {
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

fn wrong_offset(hash: &ContentHash, offset: u64, have: u64) -> StoreError {
    StoreError::WrongOffset {
        sha256: hash.to_string(),
        offset,
        have,
    }
}
