//! Content hashes.

use std::fmt;

use sha2::{Digest, Sha256};

use super::error::StoreError;

/// The SHA-256 of a piece's uncompressed bytes.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct ContentHash([u8; 32]);

impl ContentHash {
    /// Reads 64 hex digits.
    pub(super) fn parse(text: &str) -> Result<Self, StoreError> {
        let mut hash = [0; 32];
        hex::decode_to_slice(text, &mut hash).map_err(|_| StoreError::BadHash {
            text: text.chars().take(80).collect(),
        })?;
        Ok(Self(hash))
    }

    /// The hash of `bytes`.
    pub(super) fn of(bytes: &[u8]) -> Self {
        Self(Sha256::digest(bytes).into())
    }

    /// The hash of what `hasher` has seen.
    pub(super) fn finish(hasher: Sha256) -> Self {
        Self(hasher.finalize().into())
    }

    pub(super) fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    pub(super) fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

impl fmt::Display for ContentHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for ContentHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may fail by panicking")]

    use super::*;

    #[test]
    fn only_64_hex_digits_are_a_hash() {
        let abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(ContentHash::parse(abc).unwrap(), ContentHash::of(b"abc"));
        assert_eq!(ContentHash::of(b"abc").to_string(), abc);
        for text in [
            "",
            "ba78",
            "../../../etc/passwd",
            &abc[1..],
            &format!("{abc}00"),
            &abc.replace('b', "g"),
        ] {
            assert!(
                matches!(ContentHash::parse(text), Err(StoreError::BadHash { .. })),
                "{text}"
            );
        }
    }
}
