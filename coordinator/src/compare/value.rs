//! Two JSON values, place by place.

use serde::Serialize;
use serde_json::{Map, Value};

use crate::cut::start_of;

/// Characters of a value that are shown at most.
const MOST_SHOWN: usize = 300;

/// A place in which two values differ.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FieldChange {
    /// The place as a JSON Pointer (RFC 6901).
    pub at: String,
    /// What is there on side A, as JSON; `None` for nothing.
    pub a: Option<String>,
    /// What is there on side B.
    pub b: Option<String>,
}

/// Every place in which the fields of two objects differ, but for those named `without`.
pub(super) fn differences(a: &Map<String, Value>, b: &Map<String, Value>, without: &[&str]) -> Vec<FieldChange> {
    let mut found = Vec::new();
    fields(a, b, without, "", &mut found);
    found
}

fn fields(a: &Map<String, Value>, b: &Map<String, Value>, without: &[&str], at: &str, found: &mut Vec<FieldChange>) {
    let mut keys: Vec<&String> = a.keys().chain(b.keys().filter(|key| !a.contains_key(*key))).collect();
    keys.sort_unstable();
    for key in keys.into_iter().filter(|key| !without.contains(&key.as_str())) {
        let place = format!("{at}/{}", key.replace('~', "~0").replace('/', "~1"));
        values(a.get(key), b.get(key), &place, found);
    }
}

fn values(a: Option<&Value>, b: Option<&Value>, at: &str, found: &mut Vec<FieldChange>) {
    match (a, b) {
        (Some(Value::Object(a)), Some(Value::Object(b))) => fields(a, b, &[], at, found),
        // Lists of the same length that hold objects differ in a place; others (names, allowed values) as a whole.
        (Some(Value::Array(a)), Some(Value::Array(b)))
            if a.len() == b.len() && a.iter().chain(b).any(Value::is_object) =>
        {
            for (index, (a, b)) in a.iter().zip(b).enumerate() {
                values(Some(a), Some(b), &format!("{at}/{index}"), found);
            }
        }
        (a, b) if a != b => found.push(FieldChange {
            at: at.to_owned(),
            a: a.map(shown),
            b: b.map(shown),
        }),
        _ => {}
    }
}

fn shown(value: &Value) -> String {
    start_of(&value.to_string(), MOST_SHOWN)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use serde_json::json;

    use super::*;

    #[test]
    fn every_place_is_named_and_nothing_else() {
        let a = json!({"name": "x", "inputSchema": {"properties": {"city": {"type": "string"}, "a/b": {}}, "required": ["city"]}});
        let b = json!({"name": "y", "inputSchema": {"properties": {"city": {"type": "string", "enum": ["Graz"]}}, "required": []}});
        let found = differences(a.as_object().unwrap(), b.as_object().unwrap(), &["name"]);
        let places: Vec<_> = found.iter().map(|change| change.at.as_str()).collect();
        assert_eq!(
            places,
            [
                "/inputSchema/properties/a~1b",
                "/inputSchema/properties/city/enum",
                "/inputSchema/required"
            ]
        );
        assert_eq!(
            (found[1].a.as_deref(), found[1].b.as_deref()),
            (None, Some(r#"["Graz"]"#))
        );
    }

    #[test]
    fn a_long_value_is_cut_between_characters() {
        let long = json!({"description": "ö".repeat(1000)});
        let found = differences(&Map::new(), long.as_object().unwrap(), &[]);
        assert_eq!(found[0].b.as_ref().unwrap().chars().count(), MOST_SHOWN + 1);
    }
}
