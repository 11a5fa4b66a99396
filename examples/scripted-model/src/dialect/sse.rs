//! Server-sent events.

use bytes::Bytes;
use serde_json::Value;

/// A named event.
pub(super) fn named(event: &str, data: &Value) -> Bytes {
    Bytes::from(format!("event: {event}\ndata: {data}\n\n"))
}

/// An event with data alone.
pub(super) fn data(data: &Value) -> Bytes {
    Bytes::from(format!("data: {data}\n\n"))
}
