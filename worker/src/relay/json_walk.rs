//! Walks through a JSON text as its pieces come, in bounded memory. Pure.
//!
//! It does not check the text, which is the API's to do: of a text that is no JSON it tells anything or nothing.

/// Levels that are told of; what lies deeper is passed over.
const LEVELS: usize = 64;
/// The longest key or text that is told whole, in bytes as it is written.
const TEXT_CAP: usize = 512;

/// What is told of a text.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Event<'a> {
    /// An object begins, or an array.
    Open {
        /// Whether it is an object.
        object: bool,
    },
    /// It ends.
    Close,
    /// The key of what comes next; empty when it is too long to matter.
    Key(&'a str),
    /// A piece of a text, as it is written: escapes are left in it.
    Piece(&'a [u8]),
    /// A text is complete; empty when it is too long to be told whole.
    Text(&'a str),
    /// A number, `true`, `false` or `null`.
    Literal(&'a str),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Within {
    /// Between values.
    Space,
    Text {
        key: bool,
        escaped: bool,
    },
    Literal,
}

/// The walk through one text.
#[derive(Debug)]
pub(super) struct Walk {
    /// Of each open level that is told of, whether it is an object.
    levels: Vec<bool>,
    /// Open levels below those.
    deeper: u64,
    /// Whether the next text in this object is a key.
    key_next: bool,
    within: Within,
    /// The text or literal so far; given up when it is too long.
    kept: Option<Vec<u8>>,
}

impl Default for Walk {
    fn default() -> Self {
        Self {
            levels: Vec::new(),
            deeper: 0,
            key_next: false,
            within: Within::Space,
            kept: Some(Vec::new()),
        }
    }
}

impl Walk {
    /// Takes the next piece.
    pub(super) fn feed(&mut self, bytes: &[u8], mut on: impl FnMut(Event<'_>)) {
        let mut rest = bytes;
        while let Some(&byte) = rest.first() {
            match self.within {
                Within::Text { key, escaped } => rest = self.text(rest, key, escaped, &mut on),
                Within::Literal => {
                    let end = rest.iter().position(|byte| b",]} \t\r\n:".contains(byte));
                    self.keep(&rest[..end.unwrap_or(rest.len())]);
                    if end.is_some() {
                        self.within = Within::Space;
                        let text = self.kept.take().unwrap_or_default();
                        if self.deeper == 0 {
                            on(Event::Literal(std::str::from_utf8(&text).unwrap_or_default()));
                        }
                    }
                    rest = &rest[end.unwrap_or(rest.len())..];
                }
                Within::Space => {
                    if self.between(byte, &mut on) {
                        rest = &rest[1..];
                    }
                }
            }
        }
    }

    /// A byte between values; `false` when it is the first of a literal and still to be taken.
    fn between(&mut self, byte: u8, on: &mut impl FnMut(Event<'_>)) -> bool {
        match byte {
            b'{' | b'[' => {
                if self.deeper > 0 || self.levels.len() == LEVELS {
                    self.deeper += 1;
                } else {
                    self.levels.push(byte == b'{');
                    self.key_next = byte == b'{';
                    on(Event::Open { object: byte == b'{' });
                }
            }
            b'}' | b']' => {
                if self.deeper > 0 {
                    self.deeper -= 1;
                } else if self.levels.pop().is_some() {
                    on(Event::Close);
                }
            }
            b',' if self.deeper == 0 => self.key_next = self.levels.last() == Some(&true),
            b'"' => {
                self.within = Within::Text {
                    key: std::mem::take(&mut self.key_next),
                    escaped: false,
                };
                self.kept = Some(Vec::new());
            }
            b' ' | b'\t' | b'\r' | b'\n' | b':' | b',' => {}
            _ => {
                self.within = Within::Literal;
                self.kept = Some(Vec::new());
                return false;
            }
        }
        true
    }

    /// Takes of `rest` what belongs to the text, and gives back what comes after that.
    fn text<'a>(&mut self, rest: &'a [u8], key: bool, escaped: bool, on: &mut impl FnMut(Event<'_>)) -> &'a [u8] {
        let told = self.deeper == 0;
        let mut take = |this: &mut Self, piece: &[u8]| {
            if told && !piece.is_empty() {
                this.keep(piece);
                if !key {
                    on(Event::Piece(piece));
                }
            }
        };
        if escaped {
            take(self, &rest[..1]);
            self.within = Within::Text { key, escaped: false };
            return &rest[1..];
        }
        let Some(at) = memchr::memchr2(b'"', b'\\', rest) else {
            take(self, rest);
            return &[];
        };
        if rest[at] == b'\\' {
            take(self, &rest[..=at]);
            self.within = Within::Text { key, escaped: true };
        } else {
            take(self, &rest[..at]);
            self.within = Within::Space;
            let text = self.kept.take().map(|raw| unescaped(&raw)).unwrap_or_default();
            if told {
                on(if key { Event::Key(&text) } else { Event::Text(&text) });
            }
        }
        &rest[at + 1..]
    }

    fn keep(&mut self, piece: &[u8]) {
        self.kept = self.kept.take().filter(|kept| kept.len() + piece.len() <= TEXT_CAP);
        if let Some(kept) = &mut self.kept {
            kept.extend_from_slice(piece);
        }
    }
}

/// The text that is written so between quotes; empty when it cannot be one.
fn unescaped(raw: &[u8]) -> String {
    let quoted = [b"\"", raw, b"\""].concat();
    serde_json::from_slice(&quoted).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Everything but pieces, as text.
    fn told(text: &[u8], piece: usize) -> Vec<String> {
        let mut walk = Walk::default();
        let mut all = Vec::new();
        for piece in text.chunks(piece) {
            walk.feed(piece, |event| {
                if !matches!(event, Event::Piece(_)) {
                    all.push(format!("{event:?}"));
                }
            });
        }
        all
    }

    #[test]
    fn keys_texts_and_literals_are_told_in_order_however_they_are_cut() {
        let text = br#" { "a\u0062" : [ "x, \"y\" }", 1.5e3, true ], "" : { "z":null } } "#;
        let expected = [
            "Open { object: true }",
            "Key(\"ab\")",
            "Open { object: false }",
            "Text(\"x, \\\"y\\\" }\")",
            "Literal(\"1.5e3\")",
            "Literal(\"true\")",
            "Close",
            "Key(\"\")",
            "Open { object: true }",
            "Key(\"z\")",
            "Literal(\"null\")",
            "Close",
            "Close",
        ];
        for piece in [1, 2, 3, 7, text.len()] {
            assert_eq!(told(text, piece), expected, "{piece}");
        }
    }

    #[test]
    fn a_long_text_is_told_in_pieces_and_not_kept() {
        let long = "é\\n".repeat(1_000_000);
        let text = format!("{{\"a\":\"{long}\",\"b\":1}}");
        let mut walk = Walk::default();
        let mut length = 0;
        for piece in text.as_bytes().chunks(1_000) {
            walk.feed(piece, |event| {
                if let Event::Piece(piece) = event {
                    length += piece.len();
                }
            });
            assert!(walk.kept.as_ref().is_none_or(|kept| kept.len() <= TEXT_CAP));
        }
        assert_eq!(length, long.len());
        let events = told(text.as_bytes(), 1_000);
        assert_eq!(events[1..4], ["Key(\"a\")", "Text(\"\")", "Key(\"b\")"]);
    }

    #[test]
    fn what_lies_too_deep_is_passed_over_and_the_way_back_is_found() {
        let deep = format!(
            "{{\"a\":{}\"{{\\\"\"{},\"b\":2}}",
            "[".repeat(100_000),
            "]".repeat(100_000)
        );
        let events = told(deep.as_bytes(), 4_096);
        assert_eq!(events[events.len() - 3..], ["Key(\"b\")", "Literal(\"2\")", "Close"]);
        assert!(events.len() < 4 * LEVELS);
    }

    #[test]
    fn what_is_no_json_is_survived() {
        for text in [
            "",
            "]]]}",
            "\"",
            "{\"a",
            "{]}[",
            "\\\"\\",
            "nul",
            "{\"\\u12\":\"\\ud800\"}",
        ] {
            told(text.as_bytes(), 1);
        }
    }
}
