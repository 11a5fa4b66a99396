//! JSON-RPC messages whose text stays as it was, but for a few places.

use std::ops::Range;

use bytes::Bytes;
use serde::Deserialize;
use serde_json::value::RawValue;

/// A message's text in pieces, to be written one after another.
pub(super) type Pieces = Vec<Bytes>;

/// What a message is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// It has an id and a method.
    Request(String),
    /// It has a method and no id.
    Notification(String),
    /// It has a result.
    Result,
    /// It has an error.
    Error,
}

/// A message and the places in it that the bridge reads or changes.
#[derive(Clone, Debug)]
pub(super) struct Message {
    text: Bytes,
    pub(super) kind: Kind,
    id: Option<Range<usize>>,
    token: Option<Range<usize>>,
    request_id: Option<Range<usize>>,
    subscription: Option<Range<usize>>,
    /// Whether `_meta` carries a protocol version, as every request does from 2026-07-28 on.
    pub(super) stateless: bool,
}

/// Beyond this length a result is not searched for metadata.
const SMALL: usize = 64 * 1024;

#[derive(Deserialize)]
struct Envelope<'a> {
    #[serde(borrow)]
    id: Option<&'a RawValue>,
    method: Option<String>,
    #[serde(borrow)]
    params: Option<&'a RawValue>,
    #[serde(borrow)]
    result: Option<&'a RawValue>,
    #[serde(borrow)]
    error: Option<&'a RawValue>,
}

#[derive(Default, Deserialize)]
struct Params<'a> {
    #[serde(rename = "_meta", borrow)]
    meta: Option<&'a RawValue>,
    #[serde(rename = "progressToken", borrow)]
    token: Option<&'a RawValue>,
    #[serde(rename = "requestId", borrow)]
    request_id: Option<&'a RawValue>,
}

#[derive(Default, Deserialize)]
struct Meta<'a> {
    #[serde(rename = "progressToken", borrow)]
    token: Option<&'a RawValue>,
    #[serde(rename = "io.modelcontextprotocol/subscriptionId", borrow)]
    subscription: Option<&'a RawValue>,
    #[serde(rename = "io.modelcontextprotocol/protocolVersion", borrow)]
    version: Option<&'a RawValue>,
}

impl Message {
    /// Reads one message; `None` when it is none.
    pub(super) fn parse(text: Bytes) -> Option<Self> {
        let envelope: Envelope<'_> = object(&text)?;
        let kind = match (envelope.method, envelope.id, envelope.result, envelope.error) {
            (Some(method), Some(_), ..) => Kind::Request(method),
            (Some(method), None, ..) => Kind::Notification(method),
            (None, _, _, Some(_)) => Kind::Error,
            (None, Some(_), Some(_), None) => Kind::Result,
            // A result of `null` is one all the same; without any of the members it is no message.
            (None, Some(_), None, None) if find(&text, b"\"result\"") => Kind::Result,
            _ => return None,
        };
        let at = |raw: &RawValue| {
            let start = raw.get().as_ptr() as usize - text.as_ptr() as usize;
            start..start + raw.get().len()
        };
        let inner = match kind {
            Kind::Request(_) | Kind::Notification(_) => envelope.params,
            Kind::Result | Kind::Error => envelope.result.filter(|result| result.get().len() < SMALL),
        };
        let params: Params<'_> = inner.and_then(|raw| object(raw.get().as_bytes())).unwrap_or_default();
        let meta: Meta<'_> = params
            .meta
            .and_then(|raw| object(raw.get().as_bytes()))
            .unwrap_or_default();
        let token = if matches!(kind, Kind::Request(_)) {
            meta.token
        } else {
            params.token
        };
        let message = Self {
            id: envelope.id.map(at),
            token: token.map(at),
            request_id: params.request_id.map(at),
            subscription: meta.subscription.map(at),
            stateless: meta.version.is_some(),
            kind,
            text: Bytes::new(),
        };
        Some(Self { text, ..message })
    }

    /// The id's own text.
    pub(super) fn id(&self) -> Option<Bytes> {
        self.place(&self.id)
    }

    /// The progress token's own text: the one a request asks to be used, or the one that a notification is about.
    pub(super) fn token(&self) -> Option<Bytes> {
        self.place(&self.token)
    }

    /// The text of the id that a cancellation is about.
    pub(super) fn request_id(&self) -> Option<Bytes> {
        self.place(&self.request_id)
    }

    /// The text of the subscription that a notification or a result belongs to.
    pub(super) fn subscription(&self) -> Option<Bytes> {
        self.place(&self.subscription)
    }

    fn place(&self, place: &Option<Range<usize>>) -> Option<Bytes> {
        place.clone().map(|place| self.text.slice(place))
    }

    /// The text as it is.
    pub(super) fn as_is(&self) -> Pieces {
        vec![self.text.clone()]
    }

    /// The text with some places replaced; what is `None` stays.
    pub(super) fn with(&self, new: Replacements) -> Pieces {
        let mut places: Vec<(Range<usize>, Bytes)> = [
            (&self.id, new.id),
            (&self.token, new.token),
            (&self.request_id, new.request_id),
            (&self.subscription, new.subscription),
        ]
        .into_iter()
        .filter_map(|(place, new)| Some((place.clone()?, new?)))
        .collect();
        places.sort_by_key(|(place, _)| place.start);
        let mut pieces = Vec::with_capacity(2 * places.len() + 1);
        let mut from = 0;
        for (place, new) in places {
            pieces.push(self.text.slice(from..place.start));
            pieces.push(new);
            from = place.end;
        }
        pieces.push(self.text.slice(from..));
        pieces
    }
}

/// New texts for the places of a message.
#[derive(Default)]
pub(super) struct Replacements {
    pub(super) id: Option<Bytes>,
    pub(super) token: Option<Bytes>,
    pub(super) request_id: Option<Bytes>,
    pub(super) subscription: Option<Bytes>,
}

/// Splits a body or line into its messages: one, or several in a batch (2025-03-26). `None` when it is not JSON-RPC.
/// The flag says whether it was a batch.
pub(super) fn parse_all(text: Vec<u8>) -> Option<(Vec<Message>, bool)> {
    let text = Bytes::from(on_one_line(text));
    if text.iter().find(|byte| !byte.is_ascii_whitespace()) != Some(&b'[') {
        return Some((vec![Message::parse(text)?], false));
    }
    let raws: Vec<&RawValue> = serde_json::from_slice(&text).ok()?;
    let messages: Option<Vec<_>> = raws
        .into_iter()
        .map(|raw| {
            let start = raw.get().as_ptr() as usize - text.as_ptr() as usize;
            Message::parse(text.slice(start..start + raw.get().len()))
        })
        .collect();
    messages
        .filter(|messages| !messages.is_empty())
        .map(|messages| (messages, true))
}

/// JSON holds line breaks between tokens only, where a blank says the same; both a line of the child and a `data:` field
/// have to be one line.
fn on_one_line(mut text: Vec<u8>) -> Vec<u8> {
    for byte in &mut text {
        if matches!(byte, b'\n' | b'\r') {
            *byte = b' ';
        }
    }
    text
}

/// Reads an object, and only an object: serde would take an array for a struct as well.
fn object<'a, T: Deserialize<'a>>(text: &'a [u8]) -> Option<T> {
    let first = text.iter().find(|byte| !byte.is_ascii_whitespace())?;
    (*first == b'{').then(|| serde_json::from_slice(text).ok()).flatten()
}

fn find(text: &[u8], part: &[u8]) -> bool {
    text.windows(part.len()).any(|window| window == part)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    fn parse(text: &str) -> Option<Message> {
        Message::parse(Bytes::copy_from_slice(text.as_bytes()))
    }

    fn text(pieces: Pieces) -> String {
        String::from_utf8(pieces.concat()).unwrap()
    }

    #[test]
    fn only_the_places_change() {
        let call = r#"{"method" : "tools/call","params":{ "_meta":{"x":1.0,"progressToken":"t"},"name":"a"}, "id": 9007199254740993,"jsonrpc":"2.0"}"#;
        let message = parse(call).unwrap();
        assert_eq!(message.kind, Kind::Request("tools/call".to_owned()));
        assert_eq!(
            (message.id().unwrap(), message.token().unwrap()),
            ("9007199254740993".into(), "\"t\"".into())
        );
        let changed = message.with(Replacements {
            id: Some("7".into()),
            token: Some("8".into()),
            ..Replacements::default()
        });
        assert_eq!(
            text(changed),
            r#"{"method" : "tools/call","params":{ "_meta":{"x":1.0,"progressToken":8},"name":"a"}, "id": 7,"jsonrpc":"2.0"}"#
        );
    }

    #[test]
    fn messages_are_told_apart() {
        let kind = |text| parse(text).map(|message| message.kind);
        assert_eq!(
            kind(r#"{"jsonrpc":"2.0","method":"ping","id":"1"}"#),
            Some(Kind::Request("ping".into()))
        );
        assert_eq!(
            kind(r#"{"jsonrpc":"2.0","method":"n"}"#),
            Some(Kind::Notification("n".into()))
        );
        assert_eq!(kind(r#"{"jsonrpc":"2.0","id":1,"result":{}}"#), Some(Kind::Result));
        assert_eq!(kind(r#"{"jsonrpc":"2.0","id":1,"result":null}"#), Some(Kind::Result));
        assert_eq!(
            kind(r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32700}}"#),
            Some(Kind::Error)
        );
        for other in [
            "{}",
            "[1]",
            "1",
            "\"x\"",
            "{\"id\":1}",
            "INFO started",
            "{",
            "[null, 1, \"ping\", {}, null]",
        ] {
            assert_eq!(kind(other), None, "{other}");
        }
    }

    #[test]
    fn batches_and_pretty_printed_bodies_become_single_lines() {
        let (messages, batch) = parse_all(b"[{\"method\":\"a\",\n\"id\":1},\r\n {\"method\":\"b\"}]".to_vec()).unwrap();
        assert!(batch);
        let texts: Vec<String> = messages.iter().map(|message| text(message.as_is())).collect();
        assert_eq!(texts, [r#"{"method":"a", "id":1}"#, r#"{"method":"b"}"#]);
        assert!(parse_all(b"[]".to_vec()).is_none());
        assert!(parse_all(b"[1]".to_vec()).is_none());
    }
}
