//! Lines of bounded length.

use tokio::io::{AsyncBufRead, AsyncBufReadExt};

/// One line, without its end.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Line {
    /// All of it.
    Whole(Vec<u8>),
    /// It was longer than allowed; the rest was read and dropped.
    TooLong {
        /// Its beginning.
        start: Vec<u8>,
    },
}

/// How much of a line that is too long is kept.
const START: usize = 200;

/// Reads the next line; `None` at the end. A last line without an end counts.
pub(super) async fn next<R: AsyncBufRead + Unpin>(reader: &mut R, limit: usize) -> std::io::Result<Option<Line>> {
    let mut line = Vec::new();
    let (mut any, mut cut) = (false, false);
    loop {
        let buffer = reader.fill_buf().await?;
        if buffer.is_empty() {
            break;
        }
        any = true;
        let end = buffer.iter().position(|byte| *byte == b'\n');
        let piece = &buffer[..end.unwrap_or(buffer.len())];
        if line.len() + piece.len() > limit {
            cut = true;
            line.truncate(START);
        }
        if cut {
            let room = START.saturating_sub(line.len()).min(piece.len());
            line.extend_from_slice(&piece[..room]);
        } else {
            line.extend_from_slice(piece);
        }
        let used = piece.len() + usize::from(end.is_some());
        reader.consume(used);
        if end.is_some() {
            break;
        }
    }
    if line.last() == Some(&b'\r') {
        line.pop();
    }
    Ok(any.then_some(if cut {
        Line::TooLong { start: line }
    } else {
        Line::Whole(line)
    }))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[tokio::test]
    async fn long_lines_are_cut_and_the_next_is_whole() {
        let text = format!("one\r\n{}\n\ntwo", "x".repeat(5000));
        let mut reader = tokio::io::BufReader::with_capacity(7, text.as_bytes());
        let mut lines = Vec::new();
        while let Some(line) = next(&mut reader, 1000).await.unwrap() {
            lines.push(line);
        }
        assert_eq!(
            lines,
            [
                Line::Whole(b"one".to_vec()),
                Line::TooLong {
                    start: vec![b'x'; START]
                },
                Line::Whole(Vec::new()),
                Line::Whole(b"two".to_vec()),
            ]
        );
    }
}
