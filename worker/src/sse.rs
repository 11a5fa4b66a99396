//! Reads server-sent events.

/// A parser that takes pieces as they come.
///
/// Source: <https://html.spec.whatwg.org/multipage/server-sent-events.html#parsing-an-event-stream>.
#[derive(Debug)]
pub(crate) struct Events {
    limit: usize,
    line: Vec<u8>,
    name: String,
    data: Vec<u8>,
    has_data: bool,
    cut: bool,
    after_cr: bool,
}

impl Events {
    /// A parser that keeps events up to so many bytes; of a longer one only the name is known.
    pub(crate) fn new(limit: usize) -> Self {
        Self {
            limit,
            line: Vec::new(),
            name: String::new(),
            data: Vec::new(),
            has_data: false,
            cut: false,
            after_cr: false,
        }
    }

    /// Takes one more piece; `event` gets the name and the data of each event that it completes. Data that was longer
    /// than the limit is handed over empty.
    pub(crate) fn feed(&mut self, mut piece: &[u8], mut event: impl FnMut(&str, &[u8])) {
        if std::mem::take(&mut self.after_cr) && piece.first() == Some(&b'\n') {
            piece = &piece[1..];
        }
        while let Some(end) = piece.iter().position(|byte| matches!(byte, b'\n' | b'\r')) {
            self.keep(&piece[..end]);
            self.line_ended(&mut event);
            let crlf = piece[end] == b'\r' && piece.get(end + 1) == Some(&b'\n');
            self.after_cr = piece[end] == b'\r' && end + 1 == piece.len();
            piece = &piece[end + 1 + usize::from(crlf)..];
        }
        self.keep(piece);
    }

    fn keep(&mut self, bytes: &[u8]) {
        if self.line.len() + bytes.len() > self.limit {
            self.cut = true;
            // The name of the field is all that is still needed of this line.
            self.line.truncate(16);
        } else {
            self.line.extend_from_slice(bytes);
        }
    }

    fn line_ended(&mut self, event: &mut impl FnMut(&str, &[u8])) {
        if self.line.is_empty() {
            if self.has_data {
                event(&self.name, if self.cut { &[] } else { &self.data });
            }
            self.name.clear();
            self.data.clear();
            (self.has_data, self.cut) = (false, false);
            return;
        }
        let line = std::mem::take(&mut self.line);
        let bytes = line.strip_prefix("\u{feff}".as_bytes()).unwrap_or(&line);
        let (field, value) = match bytes.iter().position(|byte| *byte == b':') {
            Some(colon) => (
                &bytes[..colon],
                bytes[colon + 1..].strip_prefix(b" ").unwrap_or(&bytes[colon + 1..]),
            ),
            None => (bytes, &b""[..]),
        };
        match field {
            b"event" => self.name = String::from_utf8_lossy(value).into_owned(),
            b"data" => {
                if std::mem::replace(&mut self.has_data, true) {
                    self.data.push(b'\n');
                }
                if self.data.len() + value.len() > self.limit {
                    self.cut = true;
                } else {
                    self.data.extend_from_slice(value);
                }
            }
            _ => {}
        }
        // The buffer is used again, unless one long line made it large.
        if line.capacity() <= 64 * 1024 {
            self.line = line;
            self.line.clear();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMIT: usize = 100_000;

    fn events(stream: &str, piece: usize) -> Vec<(String, String)> {
        let mut events = Events::new(LIMIT);
        let mut seen = Vec::new();
        for piece in stream.as_bytes().chunks(piece) {
            events.feed(piece, |name, data| {
                seen.push((name.to_owned(), String::from_utf8_lossy(data).into_owned()))
            });
        }
        seen
    }

    #[test]
    fn every_line_end_and_every_split_give_the_same_events() {
        let expected = [
            ("a".to_owned(), "1\n🦀".to_owned()),
            (String::new(), "[DONE]".to_owned()),
        ];
        for end in ["\n", "\r\n", "\r"] {
            let stream = format!(
                "\u{feff}: hi{end}event: a{end}data:1{end}data: 🦀{end}{end}{end}event: none{end}{end}data: [DONE]{end}{end}data: open"
            );
            for piece in [1, 2, 3, 7, 1000] {
                assert_eq!(events(&stream, piece), expected, "{end:?} in pieces of {piece}");
            }
        }
    }

    #[test]
    fn an_event_beyond_the_limit_keeps_its_name_only() {
        let stream = format!(
            "event: big\ndata: {}\n\nevent: next\ndata: 2\n\n",
            "x".repeat(LIMIT + 5)
        );
        assert_eq!(
            events(&stream, 8192),
            [("big".to_owned(), String::new()), ("next".to_owned(), "2".to_owned())]
        );
    }
}
