//! Files without secrets, in constant memory.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use super::redactor::{MARK, Redactor};

/// How much is looked at at once, in bytes; longer secrets make it more.
const CHUNK: usize = 64 * 1024;

impl Redactor {
    /// Takes the secrets out of the file at `path`; one without any is left as it is. Blocks.
    ///
    /// # Errors
    /// The file cannot be read, or another one cannot be written beside it.
    pub fn file(&self, path: &Path) -> io::Result<()> {
        if self.longest() == 0 || !self.copy(File::open(path)?, io::sink())? {
            return Ok(());
        }
        let mut name = path.file_name().map(OsString::from).unwrap_or_default();
        name.push(".redacted");
        let without = path.with_file_name(name);
        let file = OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(true)
            .mode(0o600)
            .open(&without)?;
        let mut writer = BufWriter::new(file);
        self.copy(File::open(path)?, &mut writer)?;
        writer.flush()?;
        fs::rename(without, path)
    }

    /// Copies all but the secrets, and says whether there were any.
    fn copy(&self, mut from: impl Read, mut to: impl Write) -> io::Result<bool> {
        let longest = self.longest();
        let mut chunk = vec![0; CHUNK.max(longest)];
        let mut held: Vec<u8> = Vec::new();
        let mut any = false;
        loop {
            let read = from.read(&mut chunk)?;
            held.extend_from_slice(&chunk[..read]);
            let ended = read == 0;
            // A secret that begins before this place lies in what is held with its whole length.
            let safe = if ended {
                held.len()
            } else {
                held.len().saturating_sub(longest)
            };
            let mut done = 0;
            for place in self.find_all(&held).into_iter().take_while(|place| place.start < safe) {
                any = true;
                to.write_all(&held[done..place.start])?;
                to.write_all(MARK.as_bytes())?;
                done = place.end;
            }
            let safe = safe.max(done);
            to.write_all(&held[done..safe])?;
            held.drain(..safe);
            if ended {
                return Ok(any);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use crate::redact::Named;

    /// Gives a few bytes at a time.
    struct Dripping<'a>(&'a [u8], usize);

    impl Read for Dripping<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let count = self.1.min(self.0.len()).min(buffer.len());
            buffer[..count].copy_from_slice(&self.0[..count]);
            self.0 = &self.0[count..];
            Ok(count)
        }
    }

    fn redactor() -> Redactor {
        Redactor::new(
            [
                Named::header("token", "sentinel"),
                Named::header("longer-token", "sentinel-and-more"),
            ]
            .into_iter(),
        )
    }

    #[test]
    fn secrets_are_found_across_every_cut_and_the_longer_one_first() {
        let text = b"sentinel, sentinel-and-more, sentine, sentinelsentinel-and";
        for step in 1..=text.len() {
            let mut out = Vec::new();
            assert!(redactor().copy(Dripping(text, step), &mut out).unwrap());
            let out = String::from_utf8(out).unwrap();
            assert_eq!(
                out, "[redacted], [redacted], sentine, [redacted][redacted]-and",
                "{step}"
            );
        }
    }

    #[test]
    fn escaped_secrets_are_found_across_every_cut() {
        let redactor = Redactor::new([Named::header("X-Api-Key", "kT9+aZ/q")].into_iter());
        let filler = "x".repeat(redactor.longest());
        let text = format!(
            r"{filler}kT9\u002BaZ\/q, \\u006bT9+aZ\\\/q, \u006b\u0054\u0039\u002b\u0061\u005A\u002F\u0071{filler}"
        );
        for step in 1..=100 {
            let mut out = Vec::new();
            assert!(redactor.copy(Dripping(text.as_bytes(), step), &mut out).unwrap());
            let out = String::from_utf8(out).unwrap();
            assert_eq!(
                out,
                format!("{filler}[redacted], [redacted], [redacted]{filler}"),
                "{step}"
            );
        }
    }

    #[test]
    fn a_file_is_rewritten_only_when_it_has_to_be() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("stdout");
        let filler = vec![b'x'; CHUNK - 3];
        fs::write(&path, [&filler[..], b"sentinel", b"\xff end"].concat()).unwrap();
        redactor().file(&path).unwrap();
        assert_eq!(
            fs::read(&path).unwrap(),
            [&filler[..], b"[redacted]", b"\xff end"].concat()
        );
        let before = fs::metadata(&path).unwrap().modified().unwrap();
        redactor().file(&path).unwrap();
        assert_eq!(fs::metadata(&path).unwrap().modified().unwrap(), before);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }
}
