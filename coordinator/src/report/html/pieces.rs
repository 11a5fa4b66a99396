//! Compressed pieces of JSON lines inside the page.
//!
//! A piece is `<script type="application/x-mcproctor-…">` holding gzip in base64: a browser keeps it as one text and neither
//! parses nor runs it; the page's script unpacks it with `DecompressionStream` when it is needed.

use std::io::Write;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use flate2::Compression;
use flate2::write::GzEncoder;
use serde::Serialize;

use crate::report::ReportError;

/// What a piece holds, and how much of it at most.
#[derive(Clone, Copy)]
pub(super) struct PieceKind {
    /// The end of the element's type.
    pub(super) name: &'static str,
    /// Lines at most.
    pub(super) most_lines: u32,
    /// Uncompressed bytes after which a piece is closed.
    pub(super) enough_bytes: usize,
}

/// One line per iteration for lists and filters.
pub(super) const ROWS: PieceKind = PieceKind {
    name: "rows",
    most_lines: 1000,
    enough_bytes: 512 * 1024,
};

/// Everything about some iterations.
pub(super) const DETAILS: PieceKind = PieceKind {
    name: "details",
    most_lines: 50,
    enough_bytes: 256 * 1024,
};

/// Gathers lines of one cell and writes them out as pieces.
pub(super) struct Pieces {
    kind: PieceKind,
    open: Option<Open>,
    /// Pieces written so far.
    written: u32,
}

struct Open {
    cell: usize,
    lines: u32,
    bytes: usize,
    gzip: GzEncoder<Vec<u8>>,
}

impl Pieces {
    pub(super) fn new(kind: PieceKind) -> Self {
        Self {
            kind,
            open: None,
            written: 0,
        }
    }

    /// Adds a line; returns the number of the piece that it is in.
    pub(super) fn add(&mut self, out: &mut dyn Write, cell: usize, line: &impl Serialize) -> Result<u32, ReportError> {
        let full = |open: &Open| {
            open.cell != cell || open.lines >= self.kind.most_lines || open.bytes >= self.kind.enough_bytes
        };
        if self.open.as_ref().is_some_and(full) {
            self.close(out)?;
        }
        let mut json = serde_json::to_vec(line)?;
        json.push(b'\n');
        let open = self.open.get_or_insert_with(|| Open {
            cell,
            lines: 0,
            bytes: 0,
            gzip: GzEncoder::new(Vec::new(), Compression::fast()),
        });
        open.gzip.write_all(&json)?;
        open.lines += 1;
        open.bytes += json.len();
        Ok(self.written)
    }

    /// Writes what is left.
    pub(super) fn close(&mut self, out: &mut dyn Write) -> Result<(), ReportError> {
        let Some(open) = self.open.take() else { return Ok(()) };
        let packed = open.gzip.finish()?;
        writeln!(
            out,
            "<script type=\"application/x-mcproctor-{}\" data-cell=\"{}\">{}</script>",
            self.kind.name,
            open.cell,
            STANDARD.encode(packed)
        )?;
        self.written += 1;
        Ok(())
    }
}
