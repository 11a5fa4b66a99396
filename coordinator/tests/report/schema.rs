//! A checker for the part of JSON Schema that `docs/results.schema.json` uses. Unlike a general one it also wants every
//! field to be documented, and refuses keywords that it does not know.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

const SCHEMA: &str = include_str!("../../../docs/results.schema.json");

const KEYWORDS: [&str; 11] = [
    "description",
    "$ref",
    "type",
    "const",
    "enum",
    "required",
    "properties",
    "additionalProperties",
    "items",
    "minimum",
    "maximum",
];

/// Panics with the place of the first difference.
pub(crate) fn check(results: &Value) {
    let root: Value = serde_json::from_str(SCHEMA).unwrap();
    let mut schema = root.as_object().unwrap().clone();
    for about in ["$schema", "title", "$defs"] {
        schema.remove(about);
    }
    node(&root, &schema, results, "$");
}

fn node(root: &Value, schema: &Map<String, Value>, value: &Value, place: &str) {
    if let Some(unknown) = schema.keys().find(|key| !KEYWORDS.contains(&key.as_str())) {
        panic!("{place}: the checker does not know the keyword {unknown}");
    }
    let chain = chain(root, schema);
    for schema in &chain {
        one(root, schema, value, place);
    }
    let Some(fields) = value.as_object() else { return };
    let documented: BTreeSet<&str> = chain
        .iter()
        .filter_map(|schema| schema.get("properties")?.as_object())
        .flat_map(|properties| properties.keys().map(String::as_str))
        .collect();
    let open = chain.iter().any(|schema| schema.contains_key("additionalProperties"));
    // A schema that says nothing about fields (`arguments`, `result`) allows any.
    if !documented.is_empty() && !open {
        for field in fields.keys() {
            assert!(
                documented.contains(field.as_str()),
                "{place}: {field} is not documented"
            );
        }
    }
}

/// The schema and those that it refers to.
fn chain(root: &Value, schema: &Map<String, Value>) -> Vec<Map<String, Value>> {
    let mut chain = vec![schema.clone()];
    let mut next = schema.get("$ref").cloned();
    while let Some(reference) = next {
        let pointer = reference.as_str().unwrap().trim_start_matches('#').to_owned();
        let target = root
            .pointer(&pointer)
            .unwrap_or_else(|| panic!("{pointer} is not there"))
            .as_object()
            .unwrap();
        chain.push(target.clone());
        next = target.get("$ref").cloned();
    }
    chain
}

fn one(root: &Value, schema: &Map<String, Value>, value: &Value, place: &str) {
    if let Some(kind) = schema.get("type") {
        let kinds: Vec<&str> = match kind {
            Value::Array(kinds) => kinds.iter().filter_map(Value::as_str).collect(),
            one => one.as_str().into_iter().collect(),
        };
        assert!(
            kinds.iter().any(|kind| is(value, kind)),
            "{place}: {value} is not {kinds:?}"
        );
    }
    if let Some(expected) = schema.get("const") {
        assert_eq!(value, expected, "{place}");
    }
    if let Some(allowed) = schema.get("enum") {
        assert!(
            allowed.as_array().unwrap().contains(value),
            "{place}: {value} is not one of {allowed}"
        );
    }
    if let (Some(least), Some(number)) = (schema.get("minimum").and_then(Value::as_f64), value.as_f64()) {
        assert!(number >= least, "{place}: {number} is below {least}");
    }
    if let (Some(most), Some(number)) = (schema.get("maximum").and_then(Value::as_f64), value.as_f64()) {
        assert!(number <= most, "{place}: {number} is above {most}");
    }
    if let Some(fields) = value.as_object() {
        for required in schema.get("required").and_then(Value::as_array).into_iter().flatten() {
            assert!(
                fields.contains_key(required.as_str().unwrap()),
                "{place}: {required} is missing"
            );
        }
        let properties = schema.get("properties").and_then(Value::as_object);
        for (name, field) in fields {
            let own = properties
                .and_then(|properties| properties.get(name))
                .or(schema.get("additionalProperties"));
            if let Some(own) = own.and_then(Value::as_object) {
                node(root, own, field, &format!("{place}.{name}"));
            }
        }
    }
    if let (Some(items), Some(elements)) = (schema.get("items").and_then(Value::as_object), value.as_array()) {
        for (index, element) in elements.iter().enumerate() {
            node(root, items, element, &format!("{place}[{index}]"));
        }
    }
}

fn is(value: &Value, kind: &str) -> bool {
    match kind {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "null" => value.is_null(),
        "number" => value.is_number(),
        "integer" => value.is_u64() || value.is_i64(),
        other => panic!("the checker does not know the type {other}"),
    }
}
