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

/// How much a piece takes.
#[derive(Clone, Copy)]
pub(super) struct Size {
    /// Lines at most.
    most_lines: u32,
    /// Uncompressed bytes after which it is full.
    enough_bytes: usize,
}

/// Rows: one line per iteration for lists and filters.
pub(super) const ROWS: Size = Size {
    most_lines: 1000,
    enough_bytes: 512 * 1024,
};

/// Lines of one cell that become a piece.
#[derive(Default)]
pub(super) struct Gathered {
    lines: u32,
    json: Vec<u8>,
}

impl Gathered {
    pub(super) fn add(&mut self, line: &impl Serialize) -> Result<(), ReportError> {
        serde_json::to_writer(&mut self.json, line)?;
        self.json.push(b'\n');
        self.lines += 1;
        Ok(())
    }

    pub(super) fn is_full(&self, size: Size) -> bool {
        self.lines >= size.most_lines || self.json.len() >= size.enough_bytes
    }

    /// Compresses them; `None` when there are none.
    pub(super) fn pack(self) -> Result<Option<Packed>, ReportError> {
        if self.lines == 0 {
            return Ok(None);
        }
        let room = Vec::with_capacity(self.json.len() / 8);
        let mut gzip = GzEncoder::new(room, Compression::fast());
        gzip.write_all(&self.json)?;
        Ok(Some(Packed(STANDARD.encode(gzip.finish()?))))
    }
}

/// A piece's text.
pub(super) struct Packed(String);

impl Packed {
    /// Bytes that it takes in the page.
    pub(super) fn len(&self) -> u64 {
        self.0.len() as u64
    }

    /// Writes the piece's element; rows name the piece that holds their details by its number.
    pub(super) fn write(
        &self,
        kind: &str,
        cell: usize,
        number: Option<u32>,
        out: &mut impl Write,
    ) -> Result<(), ReportError> {
        write!(
            out,
            "<script type=\"application/x-mcproctor-{kind}\" data-cell=\"{cell}\""
        )?;
        if let Some(number) = number {
            write!(out, " data-piece=\"{number}\"")?;
        }
        Ok(writeln!(out, ">{}</script>", self.0)?)
    }
}
