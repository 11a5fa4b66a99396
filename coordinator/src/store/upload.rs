//! Evidence that arrives in parts.

use mcproctor_proto::evidence::EvidenceKind;

use super::error::StoreError;
use super::handle::{Store, off_thread};
use super::hash::ContentHash;
use super::spool::{Spooled, wrong_offset};

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
