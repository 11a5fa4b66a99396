//! What the command prints and records of each call.

use std::fs::File;
use std::io::{self, BufWriter, Stdout, Write};

use jiff::Timestamp;
use mcproctor_proto::call::{CallState, ToolCall};
use mcproctor_worker::proxy::CallObserver;
use serde::Serialize;
use serde_json::value::RawValue;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use crate::unseen::is_obeyed;

/// Longest arguments or error that are printed.
const PRINTED: usize = 160;

/// One line of the record file.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Line<'a> {
    event: &'static str,
    call: &'a str,
    tool: &'a str,
    arguments: Option<&'a RawValue>,
    state: Option<CallState>,
    result: Option<&'a RawValue>,
    error: Option<&'a str>,
    started_at: Timestamp,
    duration_ms: Option<u64>,
    bytes: Option<u64>,
    sha256: Option<&'a str>,
    truncated: bool,
    legs: u32,
}

impl<'a> Line<'a> {
    fn started(call: &'a ToolCall) -> Self {
        Self {
            event: "start",
            call: &call.id,
            tool: &call.tool,
            arguments: call.arguments.as_deref(),
            state: None,
            result: None,
            error: None,
            started_at: Timestamp::from_millisecond(call.started_at_unix_ms).unwrap_or_default(),
            duration_ms: None,
            bytes: None,
            sha256: None,
            truncated: call.truncated,
            legs: call.legs,
        }
    }

    fn ended(call: &'a ToolCall) -> Self {
        Self {
            event: "end",
            state: Some(call.state),
            result: call.result.as_deref(),
            error: call.error.as_deref(),
            duration_ms: Some(call.duration_ms),
            bytes: Some(call.bytes),
            sha256: Some(&call.sha256),
            ..Self::started(call)
        }
    }
}

/// Prints calls and appends them to the record file.
pub(super) struct CallLines {
    record: Option<BufWriter<File>>,
    printed: BufWriter<Stdout>,
    broken: UnboundedSender<String>,
}

impl CallLines {
    /// The receiver is told once why the record file can no longer be written; calls are printed nevertheless.
    pub(super) fn new(record: Option<File>) -> (Self, UnboundedReceiver<String>) {
        let (broken, told) = unbounded_channel();
        let record = record.map(|file| BufWriter::with_capacity(64 * 1024, file));
        let printed = BufWriter::with_capacity(64 * 1024, io::stdout());
        (
            Self {
                record,
                printed,
                broken,
            },
            told,
        )
    }

    fn append(&mut self, line: &Line<'_>) {
        let Some(record) = &mut self.record else { return };
        let written = serde_json::to_writer(&mut *record, line).map_err(io::Error::from);
        let written = written.and_then(|()| record.write_all(b"\n"));
        self.note(written);
    }

    fn note(&mut self, written: io::Result<()>) {
        if let Err(error) = written {
            if let Some(record) = self.record.take() {
                // What is left in the buffer is not tried again.
                let _ = record.into_parts();
            }
            let _ = self.broken.send(error.to_string());
        }
    }

    fn print(&mut self, line: std::fmt::Arguments<'_>) {
        // Whoever closed the pipe does not want to read it.
        let _ = self.printed.write_fmt(line);
    }
}

impl CallObserver for CallLines {
    fn started(&mut self, call: &ToolCall) {
        self.append(&Line::started(call));
        let arguments = call.arguments.as_deref().map_or("", RawValue::get);
        let (id, tool, arguments) = (&call.id, printable(&call.tool), printable(arguments));
        self.print(format_args!("{id} → {tool} {arguments}\n"));
    }

    fn ended(&mut self, call: &ToolCall) {
        self.append(&Line::ended(call));
        let error = call
            .error
            .as_deref()
            .map(|error| format!(": {}", printable(error)))
            .unwrap_or_default();
        let (id, tool, state) = (&call.id, printable(&call.tool), call.state.name());
        let (ms, bytes) = (call.duration_ms, call.bytes);
        self.print(format_args!("{id} ← {tool} {state}, {ms} ms, {bytes} bytes{error}\n"));
    }

    fn settled(&mut self) {
        let _ = self.printed.flush();
        if let Some(record) = &mut self.record {
            let flushed = record.flush();
            self.note(flushed);
        }
    }
}

/// Shortened, and without what a terminal would obey.
fn printable(text: &str) -> String {
    let mut shown: String = text
        .chars()
        .take(PRINTED)
        .map(|c| if is_obeyed(c) { '·' } else { c })
        .collect();
    if text.chars().nth(PRINTED).is_some() {
        shown.push('…');
    }
    shown
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn what_a_terminal_would_obey_is_not_printed() {
        assert_eq!(printable("a\u{1b}[2Jb\u{9b}c\n"), "a·[2Jb·c·");
        assert_eq!(printable(&"x".repeat(200)).chars().count(), PRINTED + 1);
    }
}
