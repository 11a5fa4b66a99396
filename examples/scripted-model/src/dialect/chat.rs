//! OpenAI Chat Completions.

use super::content::{field, items, texts};
use super::sse;
use crate::conversation::{Conversation, Entry, Mark, OfferedTool, ToolKind, is_preamble};
use crate::reply::{Call, Reply, Target, pieces};
use bytes::Bytes;
use serde_json::{Value, json};

pub(super) fn read(request: &Value) -> Conversation {
    let mut entries = Vec::new();
    for message in items(request, "messages") {
        let content = message.get("content").unwrap_or(&Value::Null);
        match field(message, "role") {
            "user" => {
                let written = texts(content).into_iter().filter(|text| !is_preamble(text));
                entries.extend(written.map(|text| Entry::User(text.to_owned())));
            }
            "assistant" => {
                let calls = items(message, "tool_calls");
                entries.extend(calls.iter().map(|call| Entry::Model(Mark::parse(field(call, "id")))));
                if calls.is_empty() {
                    entries.push(Entry::Model(None));
                }
            }
            "tool" => entries.push(Entry::ToolResult(texts(content).concat())),
            _ => {}
        }
    }
    let tool = |tool: &Value| {
        let name = tool.get("function")?.get("name")?.as_str()?.to_owned();
        Some(OfferedTool {
            name,
            kind: ToolKind::Function,
        })
    };
    Conversation {
        entries,
        stream_usage: request.pointer("/stream_options/include_usage") == Some(&Value::Bool(true)),
        tools: items(request, "tools").iter().filter_map(tool).collect(),
        ..Conversation::default()
    }
}

pub(super) fn write(reply: &Reply) -> Value {
    let mut message = json!({"role": "assistant", "content": null, "refusal": null});
    message[text_key(reply)] = json!(reply.text);
    if !reply.calls.is_empty() {
        message["tool_calls"] = reply.calls.iter().map(call).collect();
    }
    let choice = json!({"index": 0, "message": message, "logprobs": null, "finish_reason": finish_reason(reply)});
    let mut body = head(reply, "chat.completion");
    body["choices"] = json!([choice]);
    body["usage"] = usage(reply);
    body
}

pub(super) fn stream(reply: &Reply, include_usage: bool) -> Vec<Bytes> {
    let mut frames = vec![chunk(reply, json!({"role": "assistant", "content": ""}), None)];
    for piece in pieces(reply.text.as_deref().unwrap_or_default()) {
        frames.push(chunk(reply, json!({ text_key(reply): piece }), None));
    }
    for (index, one) in reply.calls.iter().enumerate() {
        let mut start = call(one);
        let arguments = start["function"]["arguments"].take();
        start["index"] = json!(index);
        start["function"]["arguments"] = json!("");
        frames.push(chunk(reply, json!({"tool_calls": [start]}), None));
        for piece in pieces(arguments.as_str().unwrap_or_default()) {
            let delta = json!({"tool_calls": [{"index": index, "function": {"arguments": piece}}]});
            frames.push(chunk(reply, delta, None));
        }
    }
    frames.push(chunk(reply, json!({}), Some(finish_reason(reply))));
    if include_usage {
        let mut last = head(reply, "chat.completion.chunk");
        last["choices"] = json!([]);
        last["usage"] = usage(reply);
        frames.push(sse::data(&last));
    }
    frames.push(Bytes::from_static(b"data: [DONE]\n\n"));
    frames
}

pub(super) fn error_events(message: &str) -> Vec<Bytes> {
    vec![sse::data(
        &json!({"error": {"message": message, "type": "server_error", "param": null, "code": "server_error"}}),
    )]
}

fn head(reply: &Reply, object: &str) -> Value {
    json!({"id": format!("chatcmpl-{}", reply.id), "object": object, "created": 0, "model": reply.model})
}

fn chunk(reply: &Reply, delta: Value, finish: Option<&str>) -> Bytes {
    let mut body = head(reply, "chat.completion.chunk");
    body["choices"] = json!([{"index": 0, "delta": delta, "logprobs": null, "finish_reason": finish}]);
    sse::data(&body)
}

fn text_key(reply: &Reply) -> &'static str {
    if reply.refusal { "refusal" } else { "content" }
}

fn finish_reason(reply: &Reply) -> &'static str {
    if reply.calls.is_empty() { "stop" } else { "tool_calls" }
}

fn call(call: &Call) -> Value {
    let function = match &call.target {
        Target::Function { name, arguments, .. } => json!({"name": name, "arguments": arguments}),
        // This API offers none of these, so no request leads here.
        Target::LocalShell { command: source }
        | Target::ToolSearch { query: source }
        | Target::JavaScript { source, .. } => {
            json!({"name": "exec", "arguments": source})
        }
    };
    json!({"id": call.id, "type": "function", "function": function})
}

fn usage(reply: &Reply) -> Value {
    json!({
        "prompt_tokens": reply.usage.input,
        "completion_tokens": reply.usage.output,
        "total_tokens": reply.usage.total(),
        "prompt_tokens_details": {"cached_tokens": reply.usage.cached},
    })
}
