//! Rules about the schema of the arguments.

use serde_json::{Map, Value};

use super::finding::{Consumer, Finding, Severity, at};

/// Deeper schemas are not walked further.
const DEPTH: usize = 64;

/// The findings about one tool's `inputSchema`.
pub(super) fn check(schema: &Value) -> Vec<Finding> {
    const BOTH: &[Consumer] = &[Consumer::ClaudeCode, Consumer::OpenAi];
    let Some(top) = schema.as_object() else {
        return vec![at(
            Severity::Error,
            "/inputSchema",
            "the schema is no JSON object; a tool without arguments has `{\"type\": \"object\"}`",
            BOTH,
            "https://modelcontextprotocol.io/specification/2025-11-25/server/tools#tool",
        )];
    };
    let mut findings = top_level(top);
    if top.get("type").and_then(Value::as_str) != Some("object") {
        findings.push(at(
            Severity::Error,
            "/inputSchema/type",
            "the schema lacks `\"type\": \"object\"` at the top: Claude Code then takes none of the server's tools, and \
             OpenAI refuses the request",
            BOTH,
            "https://github.com/awwaiid/mcp-server-taskwarrior/issues/11",
        ));
    }
    findings.extend(property_names(top));
    walk(schema, schema, "/inputSchema".to_owned(), 0, &mut findings);
    findings
}

fn top_level(top: &Map<String, Value>) -> Vec<Finding> {
    let present = |key: &&str| top.contains_key(*key);
    let combining = ["oneOf", "anyOf", "allOf"].into_iter().filter(present).map(|key| {
        at(
            Severity::Error,
            format!("/inputSchema/{key}"),
            format!(
                "the schema has `{key}` at the top: Claude Code leaves the tool out, and both APIs refuse the request"
            ),
            &[Consumer::ClaudeCode, Consumer::OpenAi],
            "https://github.com/nspady/google-calendar-mcp/issues/39",
        )
    });
    let others = ["enum", "not"].into_iter().filter(present).map(|key| {
        at(
            Severity::Error,
            format!("/inputSchema/{key}"),
            format!("the schema has `{key}` at the top, for which OpenAI refuses the request"),
            &[Consumer::OpenAi],
            "https://github.com/langchain-ai/langchainjs/issues/9804",
        )
    });
    combining.chain(others).collect()
}

/// Only the names of the top level are checked by the API.
fn property_names(top: &Map<String, Value>) -> Vec<Finding> {
    let names = top
        .get("properties")
        .and_then(Value::as_object)
        .into_iter()
        .flat_map(Map::keys);
    let refused = |name: &&String| {
        let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-');
        !(1..=64).contains(&name.chars().count()) || !name.chars().all(fits)
    };
    names
        .filter(refused)
        .map(|name| {
            at(
                Severity::Error,
                format!("/inputSchema/properties/{}", escaped(name)),
                format!("the argument `{name}` does not match `^[a-zA-Z0-9_.-]{{1,64}}$`; the Anthropic API refuses the request"),
                &[Consumer::ClaudeCode],
                "https://github.com/beautyfree/appstore-connect-mcp/issues/2",
            )
        })
        .collect()
}

/// Visits every schema inside a schema.
fn walk(root: &Value, schema: &Value, path: String, depth: usize, findings: &mut Vec<Finding>) {
    let Some(members) = schema.as_object().filter(|_| depth < DEPTH) else {
        return;
    };
    if let Some(target) = members.get("$ref").and_then(Value::as_str)
        && let Some(pointer) = target
            .strip_prefix('#')
            .filter(|pointer| pointer.is_empty() || pointer.starts_with('/'))
        && root.pointer(&percent_decoded(pointer)).is_none()
    {
        findings.push(at(
            Severity::Error,
            format!("{path}/$ref"),
            format!("`{target}` leads nowhere; the Anthropic API refuses the request"),
            &[Consumer::ClaudeCode],
            "https://github.com/Softeria/ms-365-mcp-server/issues/181",
        ));
    }
    let array = match members.get("type") {
        Some(Value::String(kind)) => kind == "array",
        Some(Value::Array(kinds)) => kinds.iter().any(|kind| kind == "array"),
        _ => false,
    };
    if array && !members.contains_key("items") && !members.contains_key("prefixItems") {
        findings.push(at(
            Severity::Error,
            path.clone(),
            "the array has no `items`, for which OpenAI refuses the request",
            &[Consumer::OpenAi],
            "https://github.com/digitalocean-labs/mcp-digitalocean/issues/265",
        ));
    }
    for (key, value) in members {
        let inside = format!("{path}/{}", escaped(key));
        match (key.as_str(), value) {
            (
                "properties" | "patternProperties" | "$defs" | "definitions" | "dependentSchemas",
                Value::Object(named),
            ) => {
                for (name, schema) in named {
                    walk(root, schema, format!("{inside}/{}", escaped(name)), depth + 1, findings);
                }
            }
            ("oneOf" | "anyOf" | "allOf" | "prefixItems" | "items", Value::Array(schemas)) => {
                for (at, schema) in schemas.iter().enumerate() {
                    walk(root, schema, format!("{inside}/{at}"), depth + 1, findings);
                }
            }
            (
                "items"
                | "additionalProperties"
                | "not"
                | "if"
                | "then"
                | "else"
                | "contains"
                | "propertyNames"
                | "unevaluatedItems"
                | "unevaluatedProperties",
                schema,
            ) => walk(root, schema, inside, depth + 1, findings),
            _ => {}
        }
    }
}

/// A member's name in a JSON pointer (RFC 6901, section 3).
fn escaped(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}

/// A pointer in a URI fragment (RFC 6901, section 6).
fn percent_decoded(pointer: &str) -> String {
    let mut decoded = Vec::with_capacity(pointer.len());
    let mut bytes = pointer.bytes();
    while let Some(byte) = bytes.next() {
        let mut ahead = bytes.clone();
        let digit = |byte: Option<u8>| {
            byte.and_then(|byte| (byte as char).to_digit(16))
                .and_then(|digit| u8::try_from(digit).ok())
        };
        match (byte, digit(ahead.next()), digit(ahead.next())) {
            (b'%', Some(high), Some(low)) => {
                decoded.push(high * 16 + low);
                bytes = ahead;
            }
            _ => decoded.push(byte),
        }
    }
    String::from_utf8_lossy(&decoded).into_owned()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn paths(schema: &Value) -> Vec<String> {
        check(schema).into_iter().map(|found| found.path).collect()
    }

    #[test]
    fn an_ordinary_schema_passes() {
        let schema = json!({
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "type": "object",
            "properties": {
                "city": {"anyOf": [{"type": "string"}, {"type": "null"}]},
                "days": {"type": "array", "items": {"$ref": "#/$defs/day"}},
                "page.size": {"$ref": "#/$defs/a~1b%20c"},
                "pair": {"type": ["array", "null"], "prefixItems": [{"type": "integer"}]},
            },
            "required": ["city"],
            "$defs": {"day": {"type": "string", "enum": ["mon"]}, "a/b c": {"type": "integer"}},
        });
        assert_eq!(paths(&schema), [""; 0]);
        assert_eq!(paths(&json!({"type": "object"})), [""; 0]);
    }

    #[test]
    fn combining_keywords_are_refused_at_the_top_only() {
        let schema =
            json!({"type": "object", "oneOf": [{"required": ["a"]}], "not": {}, "properties": {"a": {"oneOf": []}}});
        assert_eq!(paths(&schema), ["/inputSchema/oneOf", "/inputSchema/not"]);
    }

    #[test]
    fn what_is_no_object_is_found() {
        for schema in [json!(null), json!("nonsense"), json!([])] {
            assert_eq!(paths(&schema), ["/inputSchema"]);
        }
        for schema in [json!({}), json!({"type": "string"}), json!({"type": ["object"]})] {
            assert_eq!(paths(&schema), ["/inputSchema/type"]);
        }
    }

    #[test]
    fn argument_names_are_checked_at_the_top_only() {
        let long = "n".repeat(65);
        let schema = json!({"type": "object", "properties": {
            "filter[id]": {}, "a/b": {}, "fine.name-1_2": {"type": "object", "properties": {"inner name": {}}}, long.as_str(): {},
        }});
        let mut found = paths(&schema);
        found.sort();
        let mut expected = vec![
            "/inputSchema/properties/a~1b".to_owned(),
            "/inputSchema/properties/filter[id]".to_owned(),
        ];
        expected.push(format!("/inputSchema/properties/{long}"));
        assert_eq!(found, expected);
    }

    #[test]
    fn references_that_lead_nowhere_and_arrays_without_items_are_found_anywhere() {
        let schema = json!({"type": "object", "properties": {
            "list": {"type": "array"},
            "deep": {"type": "array", "items": {"anyOf": [{"$ref": "#/components/schemas/Filter"}, {"type": "array"}]}},
            "nested": {"type": "object", "properties": {"$ref": {"type": "string"}}},
            "elsewhere": {"$ref": "https://example.com/schema.json"},
            "anchor": {"$ref": "#name"},
        }});
        let mut found = paths(&schema);
        found.sort();
        assert_eq!(
            found,
            [
                "/inputSchema/properties/deep/items/anyOf/0/$ref",
                "/inputSchema/properties/deep/items/anyOf/1",
                "/inputSchema/properties/list",
            ]
        );
    }
}
