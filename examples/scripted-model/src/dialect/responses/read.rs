//! Requests.

use super::super::content::{field, items, texts};
use crate::conversation::{Conversation, Entry, Mark, OfferedTool, ToolKind, is_preamble};
use axum::http::HeaderMap;
use serde_json::Value;

pub(in crate::dialect) fn read(request: &Value, headers: &HeaderMap) -> Conversation {
    let mut conversation = Conversation {
        side: is_side(headers),
        ..Conversation::default()
    };
    read_tools(items(request, "tools"), None, &mut conversation.tools);
    match request.get("input") {
        Some(Value::String(text)) => conversation.entries.push(Entry::User(text.clone())),
        Some(Value::Array(items)) => items.iter().for_each(|item| read_item(item, &mut conversation)),
        _ => {}
    }
    conversation
}

fn read_item(item: &Value, conversation: &mut Conversation) {
    let entries = &mut conversation.entries;
    match field(item, "type") {
        "" | "message" => {
            let texts = texts(item.get("content").unwrap_or(&Value::Null));
            match field(item, "role") {
                "user" => {
                    let written = texts.into_iter().filter(|text| !is_preamble(text));
                    entries.extend(written.map(|text| Entry::User(text.to_owned())));
                }
                "assistant" => entries.push(Entry::Model(None)),
                _ => {}
            }
        }
        "function_call" | "custom_tool_call" | "local_shell_call" | "tool_search_call" => {
            entries.push(Entry::Model(Mark::parse(field(item, "call_id"))));
        }
        "function_call_output" | "custom_tool_call_output" | "local_shell_call_output" => {
            entries.push(Entry::ToolResult(
                texts(item.get("output").unwrap_or(&Value::Null)).concat(),
            ));
        }
        "tool_search_output" => {
            entries.push(Entry::ToolResult(String::new()));
            read_tools(items(item, "tools"), None, &mut conversation.tools);
        }
        "additional_tools" => read_tools(items(item, "tools"), None, &mut conversation.tools),
        _ => {}
    }
}

fn read_tools(tools: &[Value], namespace: Option<&str>, offered: &mut Vec<OfferedTool>) {
    for tool in tools {
        let name = field(tool, "name");
        let namespace_of = || namespace.map(str::to_owned);
        let kind = match field(tool, "type") {
            "namespace" => {
                read_tools(items(tool, "tools"), Some(name), offered);
                continue;
            }
            "local_shell" => ToolKind::LocalShell,
            "tool_search" => ToolKind::ToolSearch,
            "custom" if name == "exec" => {
                let description = field(tool, "description").to_owned();
                ToolKind::JavaScript {
                    namespace: namespace_of(),
                    description,
                }
            }
            "function" => namespace_of().map_or(ToolKind::Function, ToolKind::Namespaced),
            _ => continue,
        };
        let name = if name.is_empty() { field(tool, "type") } else { name };
        offered.push(OfferedTool {
            name: name.to_owned(),
            kind,
        });
    }
}

/// Codex says of every request what it is for; only a turn is part of the conversation.
fn is_side(headers: &HeaderMap) -> bool {
    let metadata = headers
        .get("x-codex-turn-metadata")
        .and_then(|value| value.to_str().ok());
    let metadata = metadata.and_then(|text| serde_json::from_str::<Value>(text).ok());
    metadata.is_some_and(|metadata| !matches!(field(&metadata, "request_kind"), "" | "turn"))
}
