//! Pack files: many small pieces in one file, so that one sync makes all of them durable.

use std::fs::{self, File, TryLockError};
use std::io::{self, Read};
use std::os::unix::fs::FileExt;
use std::path::PathBuf;

use super::error::StoreError;
use super::hash::ContentHash;
use super::layout::{Layout, private_file, sync_dir};
use super::piece::{HEADER, Piece, PieceHeader};

/// A pack is closed and the next one begun beyond this.
const ROLL_AT: u64 = 256 << 20;

/// A piece found in a pack.
#[derive(Clone, Copy, Debug)]
pub(super) struct Packed {
    pub(super) header: PieceHeader,
    pub(super) number: u32,
    pub(super) position: u64,
}

/// Appends pieces. Each writer has a pack to itself: the file's lock says so, and the system lifts it when the process
/// ends, however it ends.
#[derive(Debug)]
pub(super) struct PackWriter {
    layout: Layout,
    roll_at: u64,
    /// Packs below this one are full.
    first: u32,
    open: Option<OpenPack>,
}

#[derive(Debug)]
struct OpenPack {
    number: u32,
    file: File,
    path: PathBuf,
    end: u64,
    synced: u64,
}

/// Tells up to where a pack holds acknowledged pieces.
pub(super) type AcknowledgedLength<'a> = &'a dyn Fn(u32) -> Result<u64, StoreError>;

impl PackWriter {
    pub(super) fn new(layout: Layout) -> Self {
        Self {
            layout,
            roll_at: ROLL_AT,
            first: 1,
            open: None,
        }
    }

    #[cfg(test)]
    pub(super) fn rolling_at(layout: Layout, roll_at: u64) -> Self {
        Self {
            layout,
            roll_at,
            first: 1,
            open: None,
        }
    }

    /// Appends pieces and syncs them: when it returns they are durable, and may be referred to. Whole pieces that a
    /// killed writer had left behind in a pack taken over here are returned as well.
    pub(super) fn append(
        &mut self,
        pieces: &[Piece],
        acknowledged: AcknowledgedLength<'_>,
    ) -> Result<(Vec<Packed>, u64), StoreError> {
        let mut syncs = 0;
        let result = self.try_append(pieces, acknowledged, &mut syncs);
        if result.is_err() {
            self.abandon();
        }
        result.map(|packed| (packed, syncs))
    }

    fn try_append(
        &mut self,
        pieces: &[Piece],
        acknowledged: AcknowledgedLength<'_>,
        syncs: &mut u64,
    ) -> Result<Vec<Packed>, StoreError> {
        let mut packed = Vec::with_capacity(pieces.len());
        for piece in pieces {
            if let Some(full) = self.open.as_ref().filter(|open| open.end >= self.roll_at) {
                self.first = full.number + 1;
                *syncs += u64::from(self.sync()?);
                self.open = None;
            }
            if self.open.is_none() {
                self.open = Some(self.acquire(acknowledged, &mut packed)?);
            }
            if let Some(open) = &mut self.open {
                open.file
                    .write_all_at(&piece.framed, open.end)
                    .map_err(|error| StoreError::io("write to", &open.path, error))?;
                packed.push(Packed {
                    header: piece.header,
                    number: open.number,
                    position: open.end,
                });
                open.end += piece.framed.len() as u64;
            }
        }
        *syncs += u64::from(self.sync()?);
        Ok(packed)
    }

    /// Makes what was appended durable; says whether there was anything.
    fn sync(&mut self) -> Result<bool, StoreError> {
        match &mut self.open {
            Some(open) if open.synced < open.end => {
                open.file
                    .sync_data()
                    .map_err(|error| StoreError::io("sync", &open.path, error))?;
                open.synced = open.end;
                Ok(true)
            }
            _ => Ok(false),
        }
    }

    /// After a failed write or sync nothing is known of the bytes beyond the last sync: they are cut off, so that
    /// they take no space, and the pack is taken up anew.
    fn abandon(&mut self) {
        if let Some(open) = self.open.take() {
            // Whatever stays there is cut off or adopted when the pack is taken up.
            let _ = open.file.set_len(open.synced);
        }
    }

    /// The newest pack that has room and that nobody else writes to, or a new one.
    fn acquire(&self, acknowledged: AcknowledgedLength<'_>, adopted: &mut Vec<Packed>) -> Result<OpenPack, StoreError> {
        let numbers = self.numbers()?;
        for number in numbers.iter().rev().copied().filter(|number| *number >= self.first) {
            if let Some(open) = self.take_up(number, acknowledged, adopted)? {
                return Ok(open);
            }
        }
        let mut number = numbers.last().copied().unwrap_or(0) + 1;
        loop {
            let path = self.layout.pack(number);
            match private_file().create_new(true).open(&path) {
                Ok(_) => sync_dir(&self.layout.packs())?,
                // Another writer was faster.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(StoreError::io("create", &path, error)),
            }
            if let Some(open) = self.take_up(number, acknowledged, adopted)? {
                return Ok(open);
            }
            number += 1;
        }
    }

    /// Locks a pack and finds its end; `None` when it is full, damaged or another writer's.
    fn take_up(
        &self,
        number: u32,
        acknowledged: AcknowledgedLength<'_>,
        adopted: &mut Vec<Packed>,
    ) -> Result<Option<OpenPack>, StoreError> {
        let path = self.layout.pack(number);
        let failed = |doing| {
            let path = path.clone();
            move |error| StoreError::io(doing, &path, error)
        };
        let file = private_file().open(&path).map_err(failed("open"))?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Ok(None),
            Err(TryLockError::Error(error)) => return Err(failed("lock")(error)),
        }
        let length = file.metadata().map_err(failed("read"))?.len();
        let acknowledged = acknowledged(number)?;
        // Shorter than what was acknowledged: somebody has cut it. What is left stays readable; nothing is added.
        if length < acknowledged || acknowledged >= self.roll_at {
            return Ok(None);
        }
        let whole = whole_pieces(&file, number, acknowledged, length).map_err(failed("read"))?;
        let end = whole
            .last()
            .map_or(acknowledged, |piece| piece.position + framed_len(&piece.header));
        if end < length {
            file.set_len(end).map_err(failed("truncate"))?;
        }
        if acknowledged < end || end < length {
            file.sync_all().map_err(failed("sync"))?;
        }
        adopted.extend(whole);
        if end >= self.roll_at {
            return Ok(None);
        }
        Ok(Some(OpenPack {
            number,
            file,
            path,
            end,
            synced: end,
        }))
    }

    fn numbers(&self) -> Result<Vec<u32>, StoreError> {
        let folder = self.layout.packs();
        let failed = |error| StoreError::io("list", &folder, error);
        let mut numbers = Vec::new();
        for entry in fs::read_dir(&folder).map_err(failed)? {
            let name = entry.map_err(failed)?.file_name();
            let number: Option<u32> = name
                .to_str()
                .and_then(|name| name.strip_suffix(".pack"))
                .and_then(|name| name.parse().ok());
            numbers.extend(number);
        }
        numbers.sort_unstable();
        Ok(numbers)
    }
}

fn framed_len(header: &PieceHeader) -> u64 {
    HEADER as u64 + header.stored_bytes
}

/// The pieces between `from` and `to` up to the first one that is torn. They were synced or not before the writer died,
/// but none was acknowledged; a whole one is as good as any.
fn whole_pieces(file: &File, number: u32, from: u64, to: u64) -> io::Result<Vec<Packed>> {
    let mut whole = Vec::new();
    let mut position = from;
    while position + HEADER as u64 <= to {
        let mut bytes = [0; HEADER];
        file.read_exact_at(&mut bytes, position)?;
        let Some(header) = PieceHeader::decode(&bytes) else {
            break;
        };
        let fits = header.stored_bytes <= to - position - HEADER as u64;
        if !fits || !holds(file, position + HEADER as u64, &header) {
            break;
        }
        whole.push(Packed {
            header,
            number,
            position,
        });
        position += framed_len(&header);
    }
    Ok(whole)
}

/// Whether the bytes after a header are those that it announces.
fn holds(file: &File, position: u64, header: &PieceHeader) -> bool {
    let Ok(length) = usize::try_from(header.stored_bytes) else {
        return false;
    };
    let mut compressed = vec![0; length];
    let mut bytes = Vec::new();
    file.read_exact_at(&mut compressed, position).is_ok()
        && zstd::stream::read::Decoder::with_buffer(compressed.as_slice())
            .and_then(|decoder| decoder.take(header.bytes.saturating_add(1)).read_to_end(&mut bytes))
            .is_ok()
        && ContentHash::of(&bytes) == header.hash
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may fail by panicking")]

    use mcproctor_proto::evidence::EvidenceKind;

    use super::*;

    fn piece(content: &[u8]) -> Piece {
        let compressed = zstd::bulk::compress(content, 3).unwrap();
        Piece::new(
            EvidenceKind::Calls,
            ContentHash::of(content),
            content.len() as u64,
            &compressed,
        )
    }

    #[test]
    fn a_full_pack_is_synced_and_the_next_one_begun_also_inside_one_batch() {
        let folder = tempfile::tempdir().unwrap();
        let layout = Layout::new(folder.path());
        layout.create().unwrap();
        let mut packs = PackWriter::rolling_at(layout.clone(), 250);
        let pieces: Vec<Piece> = (0..10_u8).map(|number| piece(&[number; 40])).collect();
        let (packed, syncs) = packs.append(&pieces, &|_| Ok(0)).unwrap();
        let last = packed.last().unwrap().number;
        assert!(last > 2, "{packed:?}");
        assert_eq!(syncs, u64::from(last));
        for (piece, place) in pieces.iter().zip(&packed) {
            let content = fs::read(layout.pack(place.number)).unwrap();
            let from = usize::try_from(place.position).unwrap();
            assert!(content[from..].starts_with(&piece.framed));
        }
        // A full pack is never taken up again.
        drop(packs);
        let acknowledged = |number| {
            let of_pack = packed.iter().filter(|place| place.number == number);
            Ok(of_pack
                .map(|place| place.position + framed_len(&place.header))
                .max()
                .unwrap_or(0))
        };
        let mut packs = PackWriter::rolling_at(layout, 250);
        let (again, _) = packs.append(&[piece(b"next")], &acknowledged).unwrap();
        assert!(again[0].number >= last, "{again:?}");
    }
}
