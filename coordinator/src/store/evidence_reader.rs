//! Reads a piece of evidence, decompressed and verified.

use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use mcproctor_proto::evidence::EvidenceKind;
use sha2::{Digest, Sha256};

use super::error::StoreError;
use super::hash::ContentHash;
use super::piece::{HEADER, PieceHeader};
use super::place::{Located, Place};

/// A piece as a stream, in constant memory. Reading to the end verifies it: a piece that is not what was stored ends in an
/// error of kind [`io::ErrorKind::InvalidData`] that carries a [`StoreError::CorruptEvidence`], never in a clean end.
pub struct EvidenceReader {
    header: PieceHeader,
    place: PathBuf,
    decoder: zstd::stream::read::Decoder<'static, BufReader<io::Take<File>>>,
    hasher: Sha256,
    read: u64,
    verified: bool,
}

impl std::fmt::Debug for EvidenceReader {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("EvidenceReader")
            .field("header", &self.header)
            .field("place", &self.place)
            .finish_non_exhaustive()
    }
}

impl EvidenceReader {
    pub(super) fn open(located: Located, path: &Path) -> Result<Self, StoreError> {
        let Located { header, place } = located;
        let corrupt = |why: &str| corrupt(&header.hash, path, why);
        let mut file = File::open(path).map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => corrupt("the file is gone"),
            _ => StoreError::io("open", path, error),
        })?;
        if let Place::Pack { position, .. } = place {
            let mut bytes = [0; HEADER];
            file.seek(SeekFrom::Start(position))
                .and_then(|_| file.read_exact(&mut bytes))
                .map_err(|error| corrupt(&format!("at byte {position}: {error}")))?;
            if PieceHeader::decode(&bytes).is_none_or(|found| found.hash != header.hash) {
                return Err(corrupt(&format!("its header at byte {position} is damaged")));
            }
        }
        let decoder = zstd::stream::read::Decoder::new(file.take(header.stored_bytes))
            .map_err(|error| StoreError::io("read", path, error))?;
        let place = path.to_owned();
        Ok(Self {
            header,
            place,
            decoder,
            hasher: Sha256::new(),
            read: 0,
            verified: false,
        })
    }

    /// What the piece holds.
    pub fn kind(&self) -> EvidenceKind {
        self.header.kind
    }

    /// Its uncompressed size in bytes.
    pub fn size(&self) -> u64 {
        self.header.bytes
    }

    /// The whole piece.
    pub(super) fn read_whole(mut self) -> Result<Vec<u8>, StoreError> {
        // The announced size is not believed before that many bytes were there.
        let mut bytes = Vec::with_capacity(usize::try_from(self.header.bytes.min(1 << 20)).unwrap_or_default());
        match self.read_to_end(&mut bytes) {
            Ok(_) => Ok(bytes),
            Err(error) => Err(match error.downcast::<StoreError>() {
                Ok(error) => error,
                Err(error) => self.corrupt(&error.to_string()),
            }),
        }
    }

    fn corrupt(&self, why: &str) -> StoreError {
        corrupt(&self.header.hash, &self.place, why)
    }
}

impl Read for EvidenceReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.verified || buffer.is_empty() {
            return Ok(0);
        }
        let read = self
            .decoder
            .read(buffer)
            .map_err(|error| self.invalid(&error.to_string()))?;
        self.read += read as u64;
        if self.read > self.header.bytes {
            return Err(self.invalid("it holds more bytes than were stored"));
        }
        if read == 0 {
            if ContentHash::finish(self.hasher.clone()) != self.header.hash {
                return Err(self.invalid("its content has another hash"));
            }
            self.verified = true;
        }
        self.hasher.update(&buffer[..read]);
        Ok(read)
    }
}

impl EvidenceReader {
    fn invalid(&self, why: &str) -> io::Error {
        io::Error::new(io::ErrorKind::InvalidData, self.corrupt(why))
    }
}

fn corrupt(hash: &ContentHash, place: &Path, why: &str) -> StoreError {
    StoreError::CorruptEvidence {
        sha256: hash.to_string(),
        place: place.to_owned(),
        why: why.to_owned(),
    }
}
