//! The tools that a server offered, with their schemas ready to check calls.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, PoisonError, RwLock};

use jsonschema::{PatternOptions, Validator};
use mcproctor_proto::exposure::Exposure;
use serde_json::Value;

use crate::report::RunData;

/// Different lists that are looked into; a server that changes its list with every iteration would fill the memory.
const MOST_LISTS: usize = 64;

/// Bytes of a list beyond which it is not looked into.
const MOST_BYTES: usize = 8 << 20;

/// Bytes of a compiled pattern beyond which a schema is refused.
const MOST_PATTERN_BYTES: usize = 1 << 20;

/// A tool as its server offered it.
#[derive(Debug)]
pub(in crate::report) struct Tool {
    /// Bytes of its definition: name, description and schemas as JSON.
    pub(in crate::report) definition_bytes: u64,
    /// Checks arguments; `None` when there is no schema or none that can be used.
    pub(in crate::report) schema: Option<Validator>,
}

/// A tool list by tool.
pub(in crate::report) type ToolList = BTreeMap<String, Tool>;

/// Every tool list of a run, read and compiled once.
pub(in crate::report) struct ToolLists<'a> {
    data: &'a dyn RunData,
    known: RwLock<HashMap<String, Option<Arc<ToolList>>>>,
}

impl<'a> ToolLists<'a> {
    pub(super) fn new(data: &'a dyn RunData) -> Self {
        Self {
            data,
            known: RwLock::default(),
        }
    }

    /// The list that an agent was shown; `None` when it is not kept, or cannot be read.
    pub(super) fn shown(&self, exposure: &Exposure) -> Option<Arc<ToolList>> {
        let hash = &exposure.tools_sha256;
        let plausible = hash.len() == 64 && hash.bytes().all(|byte| byte.is_ascii_hexdigit());
        if !exposure.tools_listed || !plausible {
            return None;
        }
        if let Some(list) = self.known.read().unwrap_or_else(PoisonError::into_inner).get(hash) {
            return list.clone();
        }
        let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
        if let Some(list) = known.get(hash) {
            return list.clone();
        }
        if known.len() >= MOST_LISTS {
            return None;
        }
        // A list that is damaged is as good as none: everything else about the run can still be told.
        let bytes = self.data.evidence(hash).ok().flatten();
        let list = bytes.and_then(|bytes| read(&bytes)).map(Arc::new);
        known.insert(hash.clone(), list.clone());
        list
    }
}

fn read(bytes: &[u8]) -> Option<ToolList> {
    if bytes.len() > MOST_BYTES {
        return None;
    }
    let tools: Vec<Value> = serde_json::from_slice(bytes).ok()?;
    let named = tools.into_iter().filter_map(|tool| {
        let name = tool.get("name")?.as_str()?.to_owned();
        let tool = Tool {
            definition_bytes: tool.to_string().len() as u64,
            schema: tool.get("inputSchema").and_then(compile),
        };
        Some((name, tool))
    });
    Some(named.collect())
}

/// Nothing is fetched for it, and its patterns run in linear time; a schema that needs more is not used.
fn compile(schema: &Value) -> Option<Validator> {
    jsonschema::options()
        .offline()
        .with_pattern_options(
            PatternOptions::regex()
                .size_limit(MOST_PATTERN_BYTES)
                .dfa_size_limit(MOST_PATTERN_BYTES),
        )
        .build(schema)
        .ok()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use serde_json::json;

    use super::*;

    fn tools(schema: &Value) -> ToolList {
        let list = json!([{"name": "look", "inputSchema": schema}, {"no name": true}, 3]);
        read(list.to_string().as_bytes()).unwrap()
    }

    #[test]
    fn a_schema_that_would_be_fetched_or_cannot_be_compiled_checks_nothing() {
        for schema in [
            json!({"$ref": "http://127.0.0.1:9/schema.json"}),
            json!({"$ref": "file:///etc/hostname"}),
            json!({"properties": {"a": {"pattern": "("}}}),
            json!({"properties": {"a": {"pattern": "(a)\\1"}}}),
            json!("text"),
        ] {
            assert!(tools(&schema)["look"].schema.is_none(), "{schema}");
        }
        assert!(tools(&json!({"type": "object"}))["look"].schema.is_some());
    }

    #[test]
    fn a_schema_that_refers_to_itself_comes_to_an_end() {
        for schema in [
            json!({"$ref": "#"}),
            json!({"allOf": [{"$ref": "#"}]}),
            json!({"$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}, "$ref": "#/$defs/a"}),
            json!({"properties": {"next": {"$ref": "#"}}}),
        ] {
            if let Some(validator) = &tools(&schema)["look"].schema {
                let _ = validator.iter_errors(&json!({"next": {"next": 1}})).count();
            }
        }
    }

    #[test]
    fn what_is_no_list_of_tools_is_none() {
        for bytes in [&b"{}"[..], b"", b"[", b"\"tools\""] {
            assert!(read(bytes).is_none());
        }
        assert_eq!(read(b"[1, null, {}]").unwrap().len(), 0);
    }
}
