//! The event stream of a reply, read from a copy that arrives in arbitrary pieces.
//!
//! Follows the parsing rules of the WHATWG HTML standard, section "Server-sent events", with one difference: a block that
//! sets an id without data is reported too, because Streamable HTTP uses it to make a stream resumable.

use super::gather::{Gather, Gathered};

/// Longest `id` or `event` value that is kept; longer ones are dropped.
const FIELD_CAP: usize = 8 * 1024;

/// One block of the stream.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Event {
    /// The `event` field; empty when absent.
    pub(super) name: String,
    /// The `id` field, when this block has one.
    pub(super) id: Option<String>,
    /// The data lines joined by line feeds; `None` when the block has none.
    pub(super) data: Option<Gathered>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Field {
    Data,
    Id,
    Name,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Line {
    /// Collecting a field name, or at the start of a line.
    Key,
    /// Right after the colon, where one space is dropped.
    Colon(Field),
    /// Inside the value.
    Value(Field),
    /// A comment or a field without meaning here.
    Skip,
}

/// Splits a byte stream into events. An unterminated last event is never reported.
#[derive(Debug)]
pub(super) struct SseParser {
    line: Line,
    key: Vec<u8>,
    after_cr: bool,
    /// Bytes of a leading byte order mark seen so far; `None` once the start is behind us.
    bom: Option<usize>,
    data: Gather,
    has_data: bool,
    id: Option<Vec<u8>>,
    name: Vec<u8>,
}

const BOM: [u8; 3] = [0xEF, 0xBB, 0xBF];

impl SseParser {
    /// Keeps at most `cap` bytes of one event's data.
    pub(super) fn new(cap: usize) -> Self {
        Self {
            line: Line::Key,
            key: Vec::new(),
            after_cr: false,
            bom: Some(0),
            data: Gather::new(cap),
            has_data: false,
            id: None,
            name: Vec::new(),
        }
    }

    /// Takes the next piece and reports every event that it completes.
    pub(super) fn push(&mut self, mut bytes: &[u8], on: &mut dyn FnMut(Event)) {
        while let Some(seen) = self.bom {
            let Some((&first, rest)) = bytes.split_first() else {
                return;
            };
            if first == BOM[seen] {
                bytes = rest;
                self.bom = (seen + 1 < BOM.len()).then_some(seen + 1);
            } else {
                self.bom = None;
                self.feed(&BOM[..seen], on);
            }
        }
        self.feed(bytes, on);
    }

    fn feed(&mut self, mut bytes: &[u8], on: &mut dyn FnMut(Event)) {
        while let Some(&first) = bytes.first() {
            if std::mem::take(&mut self.after_cr) && first == b'\n' {
                bytes = &bytes[1..];
                continue;
            }
            bytes = match self.line {
                Line::Key => self.key_byte(first, bytes, on),
                Line::Colon(field) => {
                    self.line = Line::Value(field);
                    if first == b' ' { &bytes[1..] } else { bytes }
                }
                Line::Value(_) | Line::Skip => self.rest_of_line(bytes, on),
            };
        }
    }

    fn key_byte<'a>(&mut self, first: u8, bytes: &'a [u8], on: &mut dyn FnMut(Event)) -> &'a [u8] {
        match first {
            b'\r' | b'\n' => self.end_line(first, on),
            b':' => {
                self.line = match self.begin_field() {
                    Some(field) => Line::Colon(field),
                    None => Line::Skip,
                };
            }
            other if self.key.len() < 8 => self.key.push(other),
            _ => {
                self.key.clear();
                self.line = Line::Skip;
            }
        }
        &bytes[1..]
    }

    fn rest_of_line<'a>(&mut self, bytes: &'a [u8], on: &mut dyn FnMut(Event)) -> &'a [u8] {
        let end = memchr::memchr2(b'\r', b'\n', bytes);
        let value = &bytes[..end.unwrap_or(bytes.len())];
        if let Line::Value(field) = self.line {
            match field {
                Field::Data => self.data.push(value),
                Field::Id => extend_capped(self.id.get_or_insert_default(), value),
                Field::Name => extend_capped(&mut self.name, value),
            }
        }
        match end {
            Some(end) => {
                self.end_line(bytes[end], on);
                &bytes[end + 1..]
            }
            None => &[],
        }
    }

    /// Reads the collected field name and prepares for its value.
    fn begin_field(&mut self) -> Option<Field> {
        let field = match self.key.as_slice() {
            b"data" => Some(Field::Data),
            b"id" => Some(Field::Id),
            b"event" => Some(Field::Name),
            _ => None,
        };
        self.key.clear();
        match field {
            Some(Field::Data) => {
                if self.has_data {
                    self.data.push(b"\n");
                }
                self.has_data = true;
            }
            Some(Field::Id) => self.id = Some(Vec::new()),
            Some(Field::Name) => self.name.clear(),
            None => {}
        }
        field
    }

    fn end_line(&mut self, terminator: u8, on: &mut dyn FnMut(Event)) {
        self.after_cr = terminator == b'\r';
        let blank = self.line == Line::Key && self.key.is_empty();
        if self.line == Line::Key && !blank {
            // A field name alone is that field with an empty value.
            self.begin_field();
        }
        self.line = Line::Key;
        if blank {
            self.dispatch(on);
        }
    }

    fn dispatch(&mut self, on: &mut dyn FnMut(Event)) {
        let data = std::mem::take(&mut self.has_data).then(|| self.data.take());
        let name = String::from_utf8_lossy(&std::mem::take(&mut self.name)).into_owned();
        let id = self
            .id
            .take()
            .filter(|id| !id.contains(&0) && id.len() < FIELD_CAP)
            .map(|id| String::from_utf8_lossy(&id).into_owned());
        if data.is_some() || id.is_some() {
            on(Event { name, id, data });
        }
    }
}

fn extend_capped(field: &mut Vec<u8>, value: &[u8]) {
    let room = FIELD_CAP - field.len().min(FIELD_CAP);
    field.extend_from_slice(&value[..value.len().min(room)]);
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::panic)]

    use super::*;

    fn events(pieces: &[&[u8]]) -> Vec<(String, Option<String>, Option<String>)> {
        let mut parser = SseParser::new(1024);
        let mut seen = Vec::new();
        for piece in pieces {
            parser.push(piece, &mut |event| {
                let data = event.data.map(|data| match data {
                    Gathered::Whole(bytes) => String::from_utf8(bytes).unwrap(),
                    Gathered::Oversize(_) => panic!("small"),
                });
                seen.push((event.name, event.id, data));
            });
        }
        seen
    }

    /// Whole, byte by byte, and at each single split point.
    fn same_for_every_split(stream: &[u8], expected: &[(&str, Option<&str>, Option<&str>)]) {
        let expected: Vec<_> = expected
            .iter()
            .map(|(name, id, data)| (name.to_string(), id.map(str::to_owned), data.map(str::to_owned)))
            .collect();
        assert_eq!(events(&[stream]), expected, "in one piece");
        let single: Vec<&[u8]> = stream.chunks(1).collect();
        assert_eq!(events(&single), expected, "byte by byte");
        for at in 0..=stream.len() {
            assert_eq!(events(&[&stream[..at], &[], &stream[at..]]), expected, "split at {at}");
        }
        for a in 0..stream.len() {
            for b in a..stream.len() {
                assert_eq!(
                    events(&[&stream[..a], &stream[a..b], &stream[b..]]),
                    expected,
                    "split at {a} and {b}"
                );
            }
        }
    }

    #[test]
    fn line_ends_of_every_kind_mean_the_same() {
        for end in ["\n", "\r", "\r\n"] {
            let stream = [
                "event: message",
                "id: 7",
                "data: {\"a\":",
                "data: \"🌦\"}",
                "",
                ": ping",
                "",
                "data:x",
                "",
                "",
            ]
            .join(end);
            same_for_every_split(
                stream.as_bytes(),
                &[("message", Some("7"), Some("{\"a\":\n\"🌦\"}")), ("", None, Some("x"))],
            );
        }
    }

    #[test]
    fn only_one_leading_byte_order_mark_is_dropped() {
        same_for_every_split("\u{feff}data: a\n\n".as_bytes(), &[("", None, Some("a"))]);
        same_for_every_split(
            "\u{feff}\u{feff}data: a\n\ndata: b\n\n".as_bytes(),
            &[("", None, Some("b"))],
        );
        same_for_every_split(b"\xEF\xBBdata: a\n\ndata: b\n\n", &[("", None, Some("b"))]);
    }

    #[test]
    fn at_most_one_space_after_the_colon_is_dropped() {
        same_for_every_split(b"data:  a\ndata:b\ndata\n\n", &[("", None, Some(" a\nb\n"))]);
    }

    #[test]
    fn an_unterminated_last_event_is_dropped() {
        same_for_every_split(b"data: a\n\ndata: b\n", &[("", None, Some("a"))]);
        same_for_every_split(b"data: a\r\r\ndata: b", &[("", None, Some("a"))]);
    }

    #[test]
    fn an_id_without_data_is_reported_and_one_with_nul_is_not() {
        same_for_every_split(
            b"id: 1\nretry: 5\n\nid: 2\ndata:\n\nid\0\n\nid: a\0b\ndata: x\n\n",
            &[("", Some("1"), None), ("", Some("2"), Some("")), ("", None, Some("x"))],
        );
    }

    #[test]
    fn unknown_and_overlong_fields_are_skipped() {
        same_for_every_split(
            b"datax: 1\nabcdefghijk: 2\nDATA: 3\ndata: 4\n\n",
            &[("", None, Some("4"))],
        );
    }

    #[test]
    fn data_beyond_the_cap_keeps_size_and_hash() {
        let mut parser = SseParser::new(16);
        let mut seen = Vec::new();
        let message = format!(
            "{{\"id\":1,\"result\":{{\"text\":\"{}\",\"isError\":true}}}}",
            "x".repeat(100)
        );
        for byte in format!("data: {message}\n\ndata: {{}}\n\n").as_bytes() {
            parser.push(&[*byte], &mut |event| seen.push(event.data.unwrap()));
        }
        let [Gathered::Oversize(big), Gathered::Whole(small)] = seen.as_slice() else {
            panic!("{seen:?}")
        };
        assert_eq!(big.bytes, message.len() as u64);
        assert_eq!(small, b"{}");
    }
}
