//! Reads the few fields that matter from a JSON-RPC message too large to keep, byte by byte.

use std::collections::BTreeMap;

/// Longest value that is captured.
const VALUE_CAP: usize = 4 * 1024;
/// Longest key that is compared.
const KEY_CAP: usize = 32;
/// Messages of one batch that are looked at.
const BATCH_CAP: usize = 1024;
/// Levels below the message whose keys are followed.
const LEVELS: usize = 2;

/// The scalar fields of a message beyond the cap.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Skeleton {
    /// `id`, raw.
    pub(super) id: Option<String>,
    /// `method`, raw (with its quotes).
    pub(super) method: Option<String>,
    /// Short scalars of `params`, raw, by key.
    pub(super) params: Option<BTreeMap<String, String>>,
    /// Short scalars of `result`, raw, by key.
    pub(super) result: Option<BTreeMap<String, String>>,
    /// Short scalars of `error`, raw, by key.
    pub(super) error: Option<BTreeMap<String, String>>,
}

/// The keys of `params`, `result` and `error` that the recorder asks for.
const WANTED: [&str; 10] = [
    "name",
    "uri",
    "isError",
    "resultType",
    "taskId",
    "status",
    "requestState",
    "requestId",
    "code",
    "message",
];

#[derive(Debug, Default)]
enum Text {
    #[default]
    None,
    Key,
    Value,
}

/// An incremental scanner; it keeps a few kilobytes whatever it reads.
#[derive(Debug, Default)]
pub(super) struct Scanner {
    batch: bool,
    started: bool,
    done: bool,
    broken: bool,
    depth: u64,
    /// Whether the containers at the followed levels are objects, from the message down.
    objects: [bool; LEVELS + 1],
    /// The key under which each followed level stands.
    keys: [Vec<u8>; LEVELS],
    expect_key: bool,
    text: Text,
    escaped: bool,
    key: Vec<u8>,
    value: Option<Vec<u8>>,
    current: Skeleton,
    found: Vec<Skeleton>,
}

impl Scanner {
    /// Takes the next piece.
    pub(super) fn push(&mut self, bytes: &[u8]) {
        let mut at = 0;
        while at < bytes.len() {
            if self.skips_text() {
                // The bulk of a large message is text: jump to what can end or escape it.
                match memchr::memchr2(b'"', b'\\', &bytes[at..]) {
                    Some(next) => at += next,
                    None => return,
                }
            }
            self.byte(bytes[at]);
            at += 1;
        }
    }

    /// What was found; `None` unless exactly one complete JSON object or array was read.
    pub(super) fn finish(self) -> Option<Vec<Skeleton>> {
        (self.done && !self.broken).then_some(self.found)
    }

    fn skips_text(&self) -> bool {
        matches!(self.text, Text::Value) && self.value.is_none() && !self.escaped
    }

    /// Levels below the message's own braces; 0 is directly inside the message.
    fn level(&self) -> Option<usize> {
        let above = if self.batch { 2 } else { 1 };
        usize::try_from(self.depth.checked_sub(above)?)
            .ok()
            .filter(|level| *level < LEVELS)
    }

    fn byte(&mut self, byte: u8) {
        match self.text {
            Text::Key | Text::Value => self.text_byte(byte),
            Text::None => self.plain_byte(byte),
        }
    }

    fn text_byte(&mut self, byte: u8) {
        let closes = byte == b'"' && !self.escaped;
        self.escaped = byte == b'\\' && !self.escaped;
        if matches!(self.text, Text::Key) {
            if !closes && self.key.len() <= KEY_CAP {
                self.key.push(byte);
            }
        } else {
            self.capture(byte);
        }
        if closes {
            self.text = Text::None;
        }
    }

    fn plain_byte(&mut self, byte: u8) {
        match byte {
            b' ' | b'\t' | b'\r' | b'\n' => {}
            _ if self.done => self.broken = true,
            b'{' | b'[' => self.open(byte == b'{'),
            b'}' | b']' => self.close(),
            b',' => {
                self.end_value();
                self.expect_key = self.level().is_some_and(|level| self.objects[level]);
            }
            b':' => self.begin_value(),
            b'"' if self.expect_key => {
                self.key.clear();
                self.text = Text::Key;
            }
            b'"' => {
                self.text = Text::Value;
                self.capture(byte);
            }
            other => self.capture(other),
        }
    }

    fn open(&mut self, object: bool) {
        // Only scalars are captured.
        self.value = None;
        if !self.started {
            self.started = true;
            self.batch = !object;
        }
        if let Some(level) = self.level() {
            self.keys[level] = std::mem::take(&mut self.key);
        }
        self.depth += 1;
        if let Some(level) = self.level() {
            self.objects[level] = object;
            if level == 1 && object {
                self.begin_part();
            }
        }
        self.expect_key = object && self.level().is_some();
    }

    /// `params`, `result` or `error` opened as an object.
    fn begin_part(&mut self) {
        match self.keys[0].as_slice() {
            b"params" => self.current.params = Some(BTreeMap::new()),
            b"result" => self.current.result = Some(BTreeMap::new()),
            b"error" => self.current.error = Some(BTreeMap::new()),
            _ => {}
        }
    }

    fn close(&mut self) {
        self.end_value();
        let was_message = self.level() == Some(0) && self.objects[0];
        match self.depth.checked_sub(1) {
            Some(depth) => self.depth = depth,
            None => self.broken = true,
        }
        if was_message && self.found.len() < BATCH_CAP {
            self.found.push(std::mem::take(&mut self.current));
        }
        self.done = self.depth == 0;
        self.expect_key = false;
    }

    fn begin_value(&mut self) {
        self.expect_key = false;
        let wanted = match self.level() {
            Some(0) => matches!(self.key.as_slice(), b"id" | b"method"),
            Some(1) => WANTED.iter().any(|name| name.as_bytes() == self.key),
            _ => false,
        };
        self.value = wanted.then(Vec::new);
    }

    fn capture(&mut self, byte: u8) {
        if let Some(value) = &mut self.value {
            if value.len() < VALUE_CAP {
                value.push(byte);
            } else {
                self.value = None;
            }
        }
    }

    fn end_value(&mut self) {
        let Some(value) = self.value.take() else { return };
        let (Ok(value), Ok(key)) = (String::from_utf8(value), String::from_utf8(self.key.clone())) else {
            return;
        };
        if value.is_empty() || value == "null" {
            return;
        }
        match self.level() {
            Some(0) if key == "id" => self.current.id = Some(value),
            Some(0) if key == "method" => self.current.method = Some(value),
            Some(1) => {
                let part = match self.keys[0].as_slice() {
                    b"params" => &mut self.current.params,
                    b"result" => &mut self.current.result,
                    b"error" => &mut self.current.error,
                    _ => return,
                };
                if let Some(part) = part {
                    part.insert(key, value);
                }
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    fn scan(text: &str, size: usize) -> Option<Vec<Skeleton>> {
        let mut scanner = Scanner::default();
        text.as_bytes().chunks(size).for_each(|piece| scanner.push(piece));
        scanner.finish()
    }

    fn both(text: &str) -> Option<Vec<Skeleton>> {
        let whole = scan(text, text.len());
        for size in 1..8 {
            assert_eq!(scan(text, size), whole, "pieces of {size}");
        }
        whole
    }

    #[test]
    fn the_id_and_the_error_state_are_found_wherever_they_stand() {
        let text = r#" {"result" : {"content":[{"type":"text","text":"a\"b\\","id":9,"isError":false}], "isError":true,
            "_meta":{"isError":false,"id":3}}, "id": "x\"1" ,"jsonrpc":"2.0"} "#;
        let found = both(text).unwrap();
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].id.as_deref(), Some(r#""x\"1""#));
        assert_eq!(
            found[0].result.as_ref().unwrap().get("isError").map(String::as_str),
            Some("true")
        );
        assert!(found[0].error.is_none());
    }

    #[test]
    fn a_call_keeps_its_name() {
        let text = r#"{"jsonrpc":"2.0","id":9007199254740993,"method":"tools/call","params":{"arguments":{"name":"no",
            "deep":[[{"name":"no"}]]},"name":"yes"}}"#;
        let found = both(text).unwrap();
        assert_eq!(found[0].id.as_deref(), Some("9007199254740993"));
        assert_eq!(found[0].method.as_deref(), Some("\"tools/call\""));
        assert_eq!(
            found[0].params.as_ref().unwrap().get("name").map(String::as_str),
            Some("\"yes\"")
        );
    }

    #[test]
    fn every_message_of_a_batch_is_found() {
        let found = both(r#"[{"id":1,"result":{}},{"id":2,"error":{"code":-1,"message":"m"}},[],3]"#).unwrap();
        assert_eq!(
            found.iter().map(|one| one.id.clone().unwrap()).collect::<Vec<_>>(),
            ["1", "2"]
        );
        assert!(found[0].result.is_some());
        assert_eq!(
            found[1].error.as_ref().unwrap().get("message").map(String::as_str),
            Some("\"m\"")
        );
    }

    #[test]
    fn an_incomplete_or_doubled_text_is_no_message() {
        assert_eq!(both(r#"{"id":1,"result":{}"#), None);
        assert_eq!(both(r#"{"id":1}{"id":2}"#), None);
        assert_eq!(both("}"), None);
        assert_eq!(both(r#"{"id":"1"#), None);
    }
}
