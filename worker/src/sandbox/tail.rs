//! Reads a growing file line by line.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::path::Path;

/// Bytes read at once.
const CHUNK: usize = 64 * 1024;

/// The longest line that is handed on whole.
pub(super) const LINE_LIMIT: usize = 64 * 1024 * 1024;

/// Reads what is appended to a file from the moment it was opened.
#[derive(Debug)]
pub(super) struct Tail {
    file: File,
    chunk: Box<[u8]>,
    partial: Vec<u8>,
    lines: VecDeque<Vec<u8>>,
    bytes: u64,
    cut_line: bool,
}

impl Tail {
    /// Starts at the present end of the file at `path`.
    pub(super) fn from_end(path: &Path) -> io::Result<Self> {
        let mut file = File::open(path)?;
        file.seek(SeekFrom::End(0))?;
        Ok(Self {
            file,
            chunk: vec![0; CHUNK].into_boxed_slice(),
            partial: Vec::new(),
            lines: VecDeque::new(),
            bytes: 0,
            cut_line: false,
        })
    }

    /// The next whole line, without its line feed, if one has been read already.
    pub(super) fn next_line(&mut self) -> Option<Vec<u8>> {
        self.lines.pop_front()
    }

    /// Reads some of what is there. Returns whether there was anything.
    pub(super) fn read_some(&mut self) -> io::Result<bool> {
        let mut chunk = std::mem::take(&mut self.chunk);
        let read = self.file.read(&mut chunk);
        if let Ok(count) = read {
            self.split(&chunk[..count]);
        }
        self.chunk = chunk;
        Ok(read? > 0)
    }

    fn split(&mut self, mut rest: &[u8]) {
        self.bytes += rest.len() as u64;
        while let Some(end) = rest.iter().position(|&byte| byte == b'\n') {
            self.keep(&rest[..end]);
            self.lines.push_back(std::mem::take(&mut self.partial));
            rest = &rest[end + 1..];
        }
        self.keep(rest);
    }

    /// The line that no line feed ended.
    pub(super) fn take_partial(&mut self) -> Option<Vec<u8>> {
        Some(std::mem::take(&mut self.partial)).filter(|line| !line.is_empty())
    }

    /// Bytes read so far.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Whether a line was longer than [`LINE_LIMIT`] and was cut.
    pub(super) fn cut_a_line(&self) -> bool {
        self.cut_line
    }

    fn keep(&mut self, part: &[u8]) {
        let room = LINE_LIMIT.saturating_sub(self.partial.len());
        self.cut_line |= part.len() > room;
        self.partial.extend_from_slice(&part[..part.len().min(room)]);
    }
}

/// The last `limit` bytes of what was written to `path` after `start`, as text.
pub(super) fn last_text(path: &Path, start: u64, limit: u64) -> io::Result<String> {
    let mut file = File::open(path)?;
    let end = file.seek(SeekFrom::End(0))?;
    file.seek(SeekFrom::Start(start.max(end.saturating_sub(limit))))?;
    let mut bytes = Vec::new();
    file.take(limit).read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::io::Write as _;

    use super::*;

    #[test]
    fn lines_come_whole_however_they_were_written() {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(b"an earlier turn\n").unwrap();
        let mut tail = Tail::from_end(file.path()).unwrap();
        for byte in "{\"a\": \"ü\"}\r\n\nnext\nre".as_bytes() {
            file.write_all(&[*byte]).unwrap();
            assert!(tail.read_some().unwrap());
        }
        assert!(!tail.read_some().unwrap());
        let lines: Vec<_> = std::iter::from_fn(|| tail.next_line()).collect();
        assert_eq!(lines, ["{\"a\": \"ü\"}\r".as_bytes(), b"", b"next"]);
        assert_eq!(tail.take_partial().unwrap(), b"re");
        assert_eq!(tail.take_partial(), None);
    }

    #[test]
    fn only_the_end_of_this_turns_errors_is_shown() {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(b"old\nfirst\nsecond\n").unwrap();
        assert_eq!(last_text(file.path(), 4, 100).unwrap(), "first\nsecond\n");
        assert_eq!(last_text(file.path(), 4, 7).unwrap(), "second\n");
        assert_eq!(last_text(file.path(), 17, 7).unwrap(), "");
    }
}
