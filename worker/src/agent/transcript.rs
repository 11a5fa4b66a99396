//! Recorded output of real agents, for the tests of the drivers.
#![allow(clippy::unwrap_used)]

use std::fs;
use std::path::Path;

use super::driver::Exit;

/// The lines of a transcript in `tests/transcripts`.
pub(super) fn lines(name: &str) -> Vec<Vec<u8>> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/transcripts")
        .join(format!("{name}.jsonl"));
    let bytes = fs::read(&path).unwrap();
    bytes
        .split(|&byte| byte == b'\n')
        .filter(|line| !line.is_empty())
        .map(<[u8]>::to_vec)
        .collect()
}

/// An exit with `code`, and `stderr` as the end of standard error.
pub(super) fn exit(code: i32, stderr: &str) -> Exit {
    Exit {
        code: Some(code),
        signal: None,
        output_fault: None,
        stderr_tail: stderr.to_owned(),
    }
}
