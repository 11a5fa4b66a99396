//! What became of each tool.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::{Map, Value};

use super::super::side::Side;
use super::super::value::{FieldChange, differences};
use super::lists::{ToolLists, usual_list};
use super::piece::{Piece, pieces};

/// A tool that is not the same on both sides.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolChange {
    /// The server's configured name.
    pub server: String,
    /// The tool; empty when the lists are not known.
    pub tool: String,
    /// What became of it from A to B.
    pub kind: ToolChangeKind,
    /// Its description, where that differs.
    pub description: Vec<Piece>,
    /// Where the rest of its definition differs.
    pub fields: Vec<FieldChange>,
}

/// What became of a tool from A to B.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ToolChangeKind {
    /// Only on side B.
    Added,
    /// Only on side A.
    Removed,
    /// Defined otherwise.
    Changed,
    /// Only the order of the tools differs.
    Reordered,
    /// The lists differ, and one of them is not known.
    Unknown,
}

/// The tools of a server that differ, by name.
pub(in super::super) fn tool_changes(a: &Side<'_>, b: &Side<'_>, server: &str, lists: &ToolLists) -> Vec<ToolChange> {
    let (one, other) = (usual_list(a, server), usual_list(b, server));
    if one == other {
        return Vec::new();
    }
    let whole = |kind| {
        vec![ToolChange {
            server: server.to_owned(),
            tool: String::new(),
            kind,
            description: Vec::new(),
            fields: Vec::new(),
        }]
    };
    let known = |list: Option<&str>| list.and_then(|sha256| lists.get(sha256)).map(by_name);
    let (Some(one), Some(other)) = (known(one), known(other)) else {
        return whole(ToolChangeKind::Unknown);
    };
    let mut names: Vec<&str> = one.keys().chain(other.keys()).copied().collect();
    names.sort_unstable();
    names.dedup();
    let changes: Vec<ToolChange> = names
        .into_iter()
        .filter_map(|name| change(server, name, one.get(name).copied(), other.get(name).copied()))
        .collect();
    if changes.is_empty() {
        whole(ToolChangeKind::Reordered)
    } else {
        changes
    }
}

fn by_name(tools: &[Value]) -> BTreeMap<&str, &Map<String, Value>> {
    tools
        .iter()
        .filter_map(Value::as_object)
        .map(|tool| (text(tool, "name"), tool))
        .collect()
}

fn text<'a>(tool: &'a Map<String, Value>, field: &str) -> &'a str {
    tool.get(field).and_then(Value::as_str).unwrap_or_default()
}

fn change(
    server: &str,
    name: &str,
    one: Option<&Map<String, Value>>,
    other: Option<&Map<String, Value>>,
) -> Option<ToolChange> {
    if one == other {
        return None;
    }
    let description =
        |tool: Option<&'_ Map<String, Value>>| tool.map_or("", |tool| text(tool, "description")).to_owned();
    let (kind, fields) = match (one, other) {
        (None, _) => (ToolChangeKind::Added, Vec::new()),
        (_, None) => (ToolChangeKind::Removed, Vec::new()),
        (Some(one), Some(other)) => (
            ToolChangeKind::Changed,
            differences(one, other, &["name", "description"]),
        ),
    };
    Some(ToolChange {
        server: server.to_owned(),
        tool: name.to_owned(),
        kind,
        description: pieces(&description(one), &description(other)),
        fields,
    })
}
