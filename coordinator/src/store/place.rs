//! Where a stored piece lies.

use std::fs;
use std::path::PathBuf;

use mcproctor_proto::evidence::EvidenceKind;
use rusqlite::types::Type;
use rusqlite::{Connection, OptionalExtension};

use super::hash::ContentHash;
use super::layout::Layout;
use super::piece::{HEADER, PieceHeader};

/// Where a stored piece lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// In a pack, its header at `position`.
    Pack {
        /// The pack's number.
        number: u32,
        /// Bytes from the pack's start.
        position: u64,
    },
    /// In a file of its own.
    Object,
}

/// A piece that the database knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Located {
    pub(super) header: PieceHeader,
    pub(super) place: Place,
}

impl Located {
    /// The file that holds it.
    pub(super) fn path(&self, layout: &Layout) -> PathBuf {
        match self.place {
            Place::Pack { number, .. } => layout.pack(number),
            Place::Object => layout.object(&self.header.hash),
        }
    }

    /// Whether its file is there and long enough. A piece whose file was deleted or cut has to be stored anew; without
    /// this look it would count as known for ever.
    pub(super) fn is_present(&self, layout: &Layout) -> bool {
        let end = match self.place {
            Place::Pack { position, .. } => position + HEADER as u64 + self.header.stored_bytes,
            Place::Object => self.header.stored_bytes,
        };
        fs::metadata(self.path(layout)).is_ok_and(|file| file.len() >= end)
    }
}

/// Finds a piece in the database.
pub(super) fn locate(database: &Connection, hash: &ContentHash) -> rusqlite::Result<Option<Located>> {
    database
        .prepare_cached("SELECT kind, bytes, stored_bytes, pack, position FROM evidence WHERE sha256 = ?1")?
        .query_row([hash.as_bytes()], |row| {
            let size = |column| {
                row.get(column).and_then(|value: i64| {
                    u64::try_from(value).map_err(|_| rusqlite::Error::IntegralValueOutOfRange(column, value))
                })
            };
            let kind: String = row.get(0)?;
            let kind = EvidenceKind::from_name(&kind).ok_or_else(|| {
                rusqlite::Error::FromSqlConversionFailure(
                    0,
                    Type::Text,
                    format!("no kind of evidence: {kind:?}").into(),
                )
            })?;
            let header = PieceHeader {
                kind,
                hash: *hash,
                bytes: size(1)?,
                stored_bytes: size(2)?,
            };
            let place = match row.get(3)? {
                Some(number) => Place::Pack {
                    number,
                    position: size(4)?,
                },
                None => Place::Object,
            };
            Ok(Located { header, place })
        })
        .optional()
}
