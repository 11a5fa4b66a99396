//! A piece of evidence as it lies in a pack: a header that says what follows, then the compressed bytes.

use mcproctor_proto::evidence::EvidenceKind;
use sha2::{Digest, Sha256};

use super::hash::ContentHash;

/// Bytes of a header.
pub(super) const HEADER: usize = 64;

const MAGIC: &[u8; 4] = b"MCPE";
const VERSION: u8 = 1;
const CHECKED: usize = 56;

/// What a header says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PieceHeader {
    pub(super) kind: EvidenceKind,
    pub(super) hash: ContentHash,
    /// Uncompressed size.
    pub(super) bytes: u64,
    /// Size of the compressed bytes that follow the header.
    pub(super) stored_bytes: u64,
}

impl PieceHeader {
    /// The header's bytes: magic, version, kind, two zeros, both sizes (little endian), the content hash, and the first
    /// eight bytes of the SHA-256 of all that.
    pub(super) fn encode(&self) -> [u8; HEADER] {
        let mut out = [0; HEADER];
        out[..4].copy_from_slice(MAGIC);
        out[4] = VERSION;
        out[5] = code_of(self.kind);
        out[8..16].copy_from_slice(&self.bytes.to_le_bytes());
        out[16..24].copy_from_slice(&self.stored_bytes.to_le_bytes());
        out[24..CHECKED].copy_from_slice(self.hash.as_bytes());
        let check = check_of(&out);
        out[CHECKED..].copy_from_slice(&check);
        out
    }

    /// Reads a header; `None` when these bytes are not one.
    pub(super) fn decode(bytes: &[u8; HEADER]) -> Option<Self> {
        let sound = bytes.starts_with(MAGIC) && bytes[4] == VERSION && bytes[CHECKED..] == check_of(bytes);
        sound.then_some(())?;
        Some(Self {
            kind: EvidenceKind::ALL.into_iter().find(|kind| code_of(*kind) == bytes[5])?,
            hash: ContentHash::from_bytes(bytes[24..CHECKED].try_into().ok()?),
            bytes: u64::from_le_bytes(bytes[8..16].try_into().ok()?),
            stored_bytes: u64::from_le_bytes(bytes[16..24].try_into().ok()?),
        })
    }
}

fn check_of(header: &[u8; HEADER]) -> [u8; 8] {
    let mut check = [0; 8];
    check.copy_from_slice(&Sha256::digest(&header[..CHECKED])[..8]);
    check
}

fn code_of(kind: EvidenceKind) -> u8 {
    match kind {
        EvidenceKind::Calls => 1,
        EvidenceKind::Transcript => 2,
        EvidenceKind::Stderr => 3,
        EvidenceKind::Wire => 4,
        EvidenceKind::ToolList => 5,
    }
}

/// A piece, ready to be appended to a pack.
#[derive(Debug)]
pub(super) struct Piece {
    pub(super) header: PieceHeader,
    /// Header and compressed bytes.
    pub(super) framed: Vec<u8>,
}

impl Piece {
    pub(super) fn new(kind: EvidenceKind, hash: ContentHash, bytes: u64, compressed: &[u8]) -> Self {
        let header = PieceHeader {
            kind,
            hash,
            bytes,
            stored_bytes: compressed.len() as u64,
        };
        let mut framed = Vec::with_capacity(HEADER + compressed.len());
        framed.extend_from_slice(&header.encode());
        framed.extend_from_slice(compressed);
        Self { header, framed }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may fail by panicking")]

    use super::*;

    #[test]
    fn any_changed_byte_of_a_header_is_noticed() {
        for kind in EvidenceKind::ALL {
            let header = PieceHeader {
                kind,
                hash: ContentHash::of(b"abc"),
                bytes: 3,
                stored_bytes: 12,
            };
            let encoded = header.encode();
            assert_eq!(PieceHeader::decode(&encoded), Some(header));
            for at in 0..HEADER {
                let mut damaged = encoded;
                damaged[at] ^= 0x40;
                assert_eq!(PieceHeader::decode(&damaged), None, "byte {at}");
            }
        }
    }
}
