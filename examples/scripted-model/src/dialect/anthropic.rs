//! Anthropic Messages.

use super::content::{field, items, texts};
use super::sse;
use crate::conversation::{Conversation, Entry, Mark, OfferedTool, ToolKind, is_preamble};
use crate::reply::{Call, Reply, Target, Usage, pieces};
use bytes::Bytes;
use serde_json::{Value, json};

pub(super) fn read(request: &Value) -> Conversation {
    let mut entries = Vec::new();
    for message in items(request, "messages") {
        let content = message.get("content").unwrap_or(&Value::Null);
        match field(message, "role") {
            "user" => read_user(content, &mut entries),
            "assistant" => read_model(content, &mut entries),
            _ => {}
        }
    }
    let tool = |tool: &Value| {
        // The API's own tools have a type; those run elsewhere and are not for a script to call.
        let own = matches!(field(tool, "type"), "" | "custom" | "bash_20250124");
        let name = tool.get("name").and_then(Value::as_str).filter(|_| own)?.to_owned();
        Some(OfferedTool {
            name,
            kind: ToolKind::Function,
        })
    };
    Conversation {
        side: is_side(request),
        entries,
        tools: items(request, "tools").iter().filter_map(tool).collect(),
        ..Conversation::default()
    }
}

fn read_user(content: &Value, entries: &mut Vec<Entry>) {
    let Some(blocks) = content.as_array() else {
        entries.extend(texts(content).into_iter().map(|text| Entry::User(text.to_owned())));
        return;
    };
    for block in blocks {
        match field(block, "type") {
            "tool_result" => {
                let result = texts(block.get("content").unwrap_or(&Value::Null)).concat();
                entries.push(Entry::ToolResult(result));
            }
            "text" if !is_preamble(field(block, "text")) => entries.push(Entry::User(field(block, "text").to_owned())),
            _ => {}
        }
    }
}

fn read_model(content: &Value, entries: &mut Vec<Entry>) {
    let uses = content.as_array().map_or(&[][..], Vec::as_slice).iter();
    let uses = uses.filter(|block| field(block, "type") == "tool_use");
    let before = entries.len();
    entries.extend(uses.map(|block| Entry::Model(Mark::parse(field(block, "id")))));
    if entries.len() == before {
        entries.push(Entry::Model(None));
    }
}

/// Claude Code checks the quota with a one-token request and asks for titles and the like as JSON, without tools.
fn is_side(request: &Value) -> bool {
    let one_token = request.get("max_tokens").and_then(Value::as_u64) == Some(1);
    let as_json = request.pointer("/output_config/format").is_some();
    one_token || (as_json && items(request, "tools").is_empty())
}

pub(super) fn write(reply: &Reply) -> Value {
    let mut content = Vec::new();
    if let Some(text) = &reply.text {
        content.push(json!({"type": "text", "text": text}));
    }
    for call in &reply.calls {
        let (name, arguments) = function(call);
        let input: Value = serde_json::from_str(&arguments).unwrap_or_else(|_| json!({ "malformed": arguments }));
        content.push(json!({"type": "tool_use", "id": call.id, "name": name, "input": input}));
    }
    let mut message = head(reply, reply.usage);
    message["content"] = Value::Array(content);
    message["stop_reason"] = json!(stop_reason(reply));
    message
}

pub(super) fn stream(reply: &Reply) -> Vec<Bytes> {
    let mut frames = vec![start(reply)];
    let mut index = 0;
    if let Some(text) = &reply.text {
        let deltas = pieces(text)
            .into_iter()
            .map(|piece| json!({"type": "text_delta", "text": piece}))
            .collect();
        block(&mut frames, index, json!({"type": "text", "text": ""}), deltas);
        index += 1;
    }
    for call in &reply.calls {
        let (name, arguments) = function(call);
        let delta = |piece| json!({"type": "input_json_delta", "partial_json": piece});
        let deltas = pieces(&arguments).into_iter().map(delta).collect();
        block(
            &mut frames,
            index,
            json!({"type": "tool_use", "id": call.id, "name": name, "input": {}}),
            deltas,
        );
        index += 1;
    }
    let delta = json!({"stop_reason": stop_reason(reply), "stop_sequence": null});
    let end = json!({"type": "message_delta", "delta": delta, "usage": usage(reply.usage)});
    frames.push(sse::named("message_delta", &end));
    frames.push(sse::named("message_stop", &json!({"type": "message_stop"})));
    frames
}

pub(super) fn error_events(reply: &Reply, message: &str) -> Vec<Bytes> {
    let error = json!({"type": "error", "error": {"type": "overloaded_error", "message": message}});
    vec![start(reply), sse::named("error", &error)]
}

fn start(reply: &Reply) -> Bytes {
    let message = head(
        reply,
        Usage {
            output: 1,
            ..reply.usage
        },
    );
    sse::named("message_start", &json!({"type": "message_start", "message": message}))
}

fn block(frames: &mut Vec<Bytes>, index: usize, block: Value, deltas: Vec<Value>) {
    let start = json!({"type": "content_block_start", "index": index, "content_block": block});
    frames.push(sse::named("content_block_start", &start));
    for delta in deltas {
        let delta = json!({"type": "content_block_delta", "index": index, "delta": delta});
        frames.push(sse::named("content_block_delta", &delta));
    }
    frames.push(sse::named(
        "content_block_stop",
        &json!({"type": "content_block_stop", "index": index}),
    ));
}

fn head(reply: &Reply, tokens: Usage) -> Value {
    json!({
        "id": format!("msg_{}", reply.id),
        "type": "message",
        "role": "assistant",
        "model": reply.model,
        "content": [],
        "stop_reason": null,
        "stop_sequence": null,
        "usage": usage(tokens),
    })
}

fn function(call: &Call) -> (&str, String) {
    match &call.target {
        Target::Function { name, arguments, .. } => (name, arguments.clone()),
        // This API offers none of these, so no request leads here.
        Target::LocalShell { command: source }
        | Target::ToolSearch { query: source }
        | Target::JavaScript { source, .. } => ("exec", json!({ "input": source }).to_string()),
    }
}

fn stop_reason(reply: &Reply) -> &'static str {
    match (reply.refusal, reply.calls.is_empty()) {
        (true, _) => "refusal",
        (false, false) => "tool_use",
        (false, true) => "end_turn",
    }
}

/// Here input tokens are those that no cache had.
fn usage(usage: Usage) -> Value {
    json!({
        "input_tokens": usage.input - usage.cached,
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": usage.cached,
        "output_tokens": usage.output,
    })
}
