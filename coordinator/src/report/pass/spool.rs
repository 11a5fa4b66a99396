//! Parts that are written before what stands above them.

use std::fs::File;
use std::io::{self, BufWriter, Read, Seek, SeekFrom, Write};
use std::ops::Range;
use std::path::Path;

/// A nameless file beside the reports, which is gone with this.
#[derive(Debug)]
pub(in crate::report) struct Spool {
    out: BufWriter<File>,
    written: u64,
}

impl Spool {
    /// An empty one on the disk of `folder`.
    pub(in crate::report) fn new(folder: &Path) -> io::Result<Self> {
        Ok(Self {
            out: BufWriter::with_capacity(256 * 1024, tempfile::tempfile_in(folder)?),
            written: 0,
        })
    }

    /// Bytes so far.
    pub(in crate::report) fn written(&self) -> u64 {
        self.written
    }

    /// Everything written, to be read once.
    pub(in crate::report) fn into_parts(self) -> io::Result<Parts> {
        let mut file = self.out.into_inner().map_err(io::IntoInnerError::into_error)?;
        file.seek(SeekFrom::Start(0))?;
        Ok(Parts { file, at: 0 })
    }
}

impl Write for Spool {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.out.write(bytes)?;
        self.written += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// What a spool held.
#[derive(Debug)]
pub(in crate::report) struct Parts {
    file: File,
    at: u64,
}

impl Parts {
    /// Copies a range of bytes.
    pub(in crate::report) fn copy(&mut self, range: Range<u64>, out: &mut impl Write) -> io::Result<()> {
        if self.at != range.start {
            self.file.seek(SeekFrom::Start(range.start))?;
        }
        let wanted = range.end.saturating_sub(range.start);
        let copied = io::copy(&mut (&self.file).take(wanted), out)?;
        self.at = range.start + copied;
        if copied < wanted {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        Ok(())
    }

    /// Copies all of it.
    pub(in crate::report) fn copy_all(&mut self, out: &mut impl Write) -> io::Result<()> {
        let end = self.file.metadata()?.len();
        self.copy(0..end, out)
    }
}
