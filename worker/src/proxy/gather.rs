//! Collects one message, in bounded memory whatever its size.

use sha2::{Digest, Sha256};

use super::scan::{Scanner, Skeleton};

/// A message that was collected.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Gathered {
    /// All of it.
    Whole(Vec<u8>),
    /// It went beyond the cap: what is still known of it.
    Oversize(Oversize),
}

/// What is known of a message beyond the cap.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Oversize {
    /// Its size.
    pub(super) bytes: u64,
    /// Its SHA-256 in hex.
    pub(super) sha256: String,
    /// One entry per JSON-RPC message in it; `None` when it is no complete JSON text.
    pub(super) skeletons: Option<Vec<Skeleton>>,
}

#[derive(Debug)]
struct Beyond {
    hash: Sha256,
    bytes: u64,
    scanner: Scanner,
}

/// Collects up to a cap; from there on it only scans, counts and hashes.
#[derive(Debug)]
pub(super) struct Gather {
    cap: usize,
    kept: Vec<u8>,
    beyond: Option<Box<Beyond>>,
}

impl Gather {
    /// Keeps at most `cap` bytes.
    pub(super) fn new(cap: usize) -> Self {
        Self {
            cap,
            kept: Vec::new(),
            beyond: None,
        }
    }

    /// Takes the next piece.
    pub(super) fn push(&mut self, bytes: &[u8]) {
        if self.beyond.is_none() {
            if self.kept.len() + bytes.len() <= self.cap {
                self.kept.extend_from_slice(bytes);
                return;
            }
            let kept = std::mem::take(&mut self.kept);
            let mut beyond = Box::new(Beyond {
                hash: Sha256::new(),
                bytes: 0,
                scanner: Scanner::default(),
            });
            beyond.push(&kept);
            self.beyond = Some(beyond);
        }
        if let Some(beyond) = &mut self.beyond {
            beyond.push(bytes);
        }
    }

    /// Whether nothing was collected.
    pub(super) fn is_empty(&self) -> bool {
        self.kept.is_empty() && self.beyond.is_none()
    }

    /// Hands over what was collected and starts anew.
    pub(super) fn take(&mut self) -> Gathered {
        match self.beyond.take() {
            None => Gathered::Whole(std::mem::take(&mut self.kept)),
            Some(beyond) => Gathered::Oversize(Oversize {
                bytes: beyond.bytes,
                sha256: hex::encode(beyond.hash.finalize()),
                skeletons: beyond.scanner.finish(),
            }),
        }
    }
}

impl Beyond {
    fn push(&mut self, bytes: &[u8]) {
        self.hash.update(bytes);
        self.bytes += bytes.len() as u64;
        self.scanner.push(bytes);
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::panic)]

    use super::*;

    #[test]
    fn what_fits_is_kept_whole_and_what_does_not_is_hashed_from_its_first_byte() {
        let mut gather = Gather::new(4);
        gather.push(b"{}");
        gather.push(b"  ");
        assert_eq!(gather.take(), Gathered::Whole(b"{}  ".to_vec()));
        gather.push(b"{\"a");
        gather.push(b"\":1}");
        let Gathered::Oversize(oversize) = gather.take() else {
            panic!("kept")
        };
        assert_eq!(oversize.bytes, 7);
        assert_eq!(oversize.sha256, hex::encode(Sha256::digest(b"{\"a\":1}")));
        assert!(gather.is_empty());
    }
}
