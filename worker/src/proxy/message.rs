//! JSON-RPC messages as the recorder reads them.

use std::collections::BTreeMap;
use std::fmt;

use serde::Deserialize;
use serde::de::{IgnoredAny, MapAccess, Visitor};
use serde_json::value::RawValue;
use sha2::{Digest, Sha256};

use super::gather::{Gathered, Oversize};
use super::scan::Skeleton;

/// A JSON-RPC id as it was written: `1` is not `"1"`, and big integers stay exact.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct RawId(Box<str>);

impl RawId {
    pub(super) fn new(raw: &str) -> Self {
        // Two spellings of one string are one id.
        match serde_json::from_str::<String>(raw) {
            Ok(text) => Self(serde_json::Value::String(text).to_string().into()),
            Err(_) => Self(raw.into()),
        }
    }
}

/// One JSON-RPC message.
#[derive(Clone, Debug)]
pub(super) struct Message {
    pub(super) id: Option<RawId>,
    pub(super) method: Option<String>,
    pub(super) params: Option<Box<RawValue>>,
    pub(super) result: Option<Box<RawValue>>,
    pub(super) error: Option<Box<RawValue>>,
    /// Size of its text.
    pub(super) bytes: u64,
    /// SHA-256 of its text in hex; empty for requests.
    pub(super) sha256: String,
    /// It was beyond the cap: `params`, `result` and `error` hold only a few scalars.
    pub(super) oversize: bool,
}

/// A body or event that holds no JSON-RPC message.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("no JSON-RPC message: {0}")]
pub(super) struct NotJsonRpc(String);

/// Reads the message, or every message of the batch.
///
/// # Errors
/// The text is not JSON, not UTF-8, or neither an object nor an array of objects.
pub(super) fn read(gathered: Gathered) -> Result<Vec<Message>, NotJsonRpc> {
    match gathered {
        Gathered::Whole(text) => read_whole(&text),
        Gathered::Oversize(oversize) => read_oversize(oversize),
    }
}

fn read_whole(text: &[u8]) -> Result<Vec<Message>, NotJsonRpc> {
    let text = std::str::from_utf8(text).map_err(|_| NotJsonRpc("not UTF-8".to_owned()))?;
    // RFC 8259, section 8.1: whoever reads may ignore a byte order mark.
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let text = text.trim_matches([' ', '\t', '\r', '\n']);
    if text.starts_with('[') {
        let elements: Vec<&RawValue> = serde_json::from_str(text).map_err(not_json)?;
        elements.into_iter().map(|element| read_one(element.get())).collect()
    } else {
        Ok(vec![read_one(text)?])
    }
}

fn read_one(text: &str) -> Result<Message, NotJsonRpc> {
    let envelope: Envelope<'_> = serde_json::from_str(text).map_err(not_json)?;
    let owned = |part: Option<&RawValue>| part.map(ToOwned::to_owned);
    let answer = envelope.result.is_some() || envelope.error.is_some();
    Ok(Message {
        id: envelope.id.map(|id| RawId::new(id.get())),
        method: envelope
            .method
            .and_then(|method| serde_json::from_str(method.get()).ok()),
        params: owned(envelope.params),
        result: owned(envelope.result),
        error: owned(envelope.error),
        bytes: text.len() as u64,
        sha256: if answer {
            hex::encode(Sha256::digest(text.as_bytes()))
        } else {
            String::new()
        },
        oversize: false,
    })
}

fn read_oversize(oversize: Oversize) -> Result<Vec<Message>, NotJsonRpc> {
    let Some(skeletons) = oversize.skeletons else {
        return Err(NotJsonRpc("incomplete JSON".to_owned()));
    };
    let message = |skeleton: Skeleton| Message {
        id: skeleton.id.as_deref().map(RawId::new),
        method: skeleton
            .method
            .as_deref()
            .and_then(|method| serde_json::from_str(method).ok()),
        params: skeleton.params.and_then(scalars),
        result: skeleton.result.and_then(scalars),
        error: skeleton.error.and_then(scalars),
        bytes: oversize.bytes,
        sha256: oversize.sha256.clone(),
        oversize: true,
    };
    Ok(skeletons.into_iter().map(message).collect())
}

/// An object of the scalars that were found.
fn scalars(fields: BTreeMap<String, String>) -> Option<Box<RawValue>> {
    let fields: Vec<String> = fields
        .into_iter()
        .map(|(key, raw)| format!("\"{key}\":{raw}"))
        .collect();
    RawValue::from_string(format!("{{{}}}", fields.join(","))).ok()
}

#[expect(clippy::needless_pass_by_value, reason = "shaped for map_err")]
fn not_json(error: serde_json::Error) -> NotJsonRpc {
    NotJsonRpc(error.to_string())
}

/// The members of a message; of doubled ones the last counts, as with `JSON.parse`.
#[derive(Default)]
struct Envelope<'a> {
    id: Option<&'a RawValue>,
    method: Option<&'a RawValue>,
    params: Option<&'a RawValue>,
    result: Option<&'a RawValue>,
    error: Option<&'a RawValue>,
}

impl<'de: 'a, 'a> Deserialize<'de> for Envelope<'a> {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Members;

        impl<'de> Visitor<'de> for Members {
            type Value = Envelope<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a JSON-RPC object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut envelope = Envelope::default();
                while let Some(key) = map.next_key::<std::borrow::Cow<'de, str>>()? {
                    let slot = match key.as_ref() {
                        "id" => &mut envelope.id,
                        "method" => &mut envelope.method,
                        "params" => &mut envelope.params,
                        "result" => {
                            // `"result": null` is an answer too.
                            envelope.result = Some(map.next_value()?);
                            continue;
                        }
                        "error" => &mut envelope.error,
                        _ => {
                            map.next_value::<IgnoredAny>()?;
                            continue;
                        }
                    };
                    let raw: &'de RawValue = map.next_value()?;
                    *slot = (raw.get() != "null").then_some(raw);
                }
                Ok(envelope)
            }
        }

        deserializer.deserialize_map(Members)
    }
}

/// The member `key` of a raw object, raw.
pub(super) fn member<'a>(object: Option<&'a RawValue>, key: &str) -> Option<&'a RawValue> {
    struct Find<'k>(&'k str);

    impl<'de> Visitor<'de> for Find<'_> {
        type Value = Option<&'de RawValue>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("an object")
        }

        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
            let mut found = None;
            while let Some(key) = map.next_key::<std::borrow::Cow<'de, str>>()? {
                if key == self.0 {
                    found = Some(map.next_value()?);
                } else {
                    map.next_value::<&RawValue>()?;
                }
            }
            Ok(found)
        }
    }

    use serde::Deserializer as _;
    let raw = object?.get();
    let mut reader = serde_json::Deserializer::from_str(raw);
    reader
        .deserialize_map(Find(key))
        .ok()
        .flatten()
        .filter(|found: &&RawValue| found.get() != "null")
}

/// The member `key` of a raw object, when it is a string.
pub(super) fn text_member(object: Option<&RawValue>, key: &str) -> Option<String> {
    serde_json::from_str(member(object, key)?.get()).ok()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    fn whole(text: &str) -> Result<Vec<Message>, NotJsonRpc> {
        read(Gathered::Whole(text.as_bytes().to_vec()))
    }

    #[test]
    fn ids_keep_their_type_and_their_digits() {
        let ids = |text: &str| whole(text).unwrap()[0].id.clone().unwrap();
        assert_ne!(ids(r#"{"id":1}"#), ids(r#"{"id":"1"}"#));
        assert_ne!(ids(r#"{"id":9007199254740993}"#), ids(r#"{"id":9007199254740992}"#));
        assert_eq!(ids(r#"{"id":"a"}"#), ids(r#"{"id":"\u0061"}"#));
        assert!(whole(r#"{"id":null,"error":{}}"#).unwrap()[0].id.is_none());
    }

    #[test]
    fn a_batch_gives_each_message_its_own_size() {
        let messages = whole(r#" [ {"id":1,"result":{}} , {"method":"m"} ] "#).unwrap();
        assert_eq!(messages.iter().map(|one| one.bytes).collect::<Vec<_>>(), [20, 14]);
        assert_eq!(messages[1].method.as_deref(), Some("m"));
    }

    #[test]
    fn of_doubled_members_the_last_counts() {
        let messages = whole(r#"{"id":1,"id":2,"result":null}"#).unwrap();
        assert_eq!(messages[0].id, Some(RawId::new("2")));
        assert_eq!(messages[0].result.as_ref().unwrap().get(), "null");
    }

    #[test]
    fn a_byte_order_mark_is_no_part_of_the_message() {
        let messages = whole("\u{feff}{\"id\":1,\"result\":{}}").unwrap();
        assert_eq!((messages[0].bytes, messages[0].id.clone()), (20, Some(RawId::new("1"))));
        assert!(whole("\u{feff}\u{feff}{}").is_err());
    }

    #[test]
    fn what_is_no_object_is_refused() {
        for text in ["", "3", "\"x\"", "[1]", "{\"id\":1", "<html>", "{} {}"] {
            assert!(whole(text).is_err(), "{text}");
        }
        assert!(read(Gathered::Whole(b"{\"a\":\"\xFF\"}".to_vec())).is_err());
    }

    #[test]
    fn deep_nesting_is_read_without_recursion() {
        let deep = format!("{{\"id\":1,\"result\":{}{}}}", "[".repeat(100_000), "]".repeat(100_000));
        assert_eq!(whole(&deep).unwrap()[0].bytes, deep.len() as u64);
    }

    #[test]
    fn members_are_found_raw() {
        let object = RawValue::from_string(r#"{"a":{"b":1.0},"isError":true,"n":null}"#.to_owned()).unwrap();
        assert_eq!(member(Some(&object), "a").unwrap().get(), r#"{"b":1.0}"#);
        assert!(member(Some(&object), "n").is_none());
        assert!(text_member(Some(&object), "a").is_none());
    }
}
