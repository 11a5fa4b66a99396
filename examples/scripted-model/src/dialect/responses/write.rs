//! Responses, whole and as events.

use super::super::sse;
use crate::reply::{Call, Reply, Target, pieces};
use bytes::Bytes;
use serde_json::{Value, json};

pub(in crate::dialect) fn write(reply: &Reply) -> Value {
    response(reply, "completed", &items(reply))
}

pub(in crate::dialect) fn stream(reply: &Reply) -> Vec<Bytes> {
    let mut events = Events::start(reply);
    let items = items(reply);
    for (index, item) in items.iter().enumerate() {
        events.item(index, item);
    }
    events.push(
        "response.completed",
        json!({"response": response(reply, "completed", &items)}),
    );
    events.frames
}

pub(in crate::dialect) fn error_events(reply: &Reply, message: &str) -> Vec<Bytes> {
    let mut events = Events::start(reply);
    let mut failed = response(reply, "failed", &[]);
    failed["error"] = json!({"code": "server_is_overloaded", "message": message});
    events.push("response.failed", json!({ "response": failed }));
    events.frames
}

fn response(reply: &Reply, status: &str, output: &[Value]) -> Value {
    let usage = json!({
        "input_tokens": reply.usage.input,
        "input_tokens_details": {"cached_tokens": reply.usage.cached},
        "output_tokens": reply.usage.output,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": reply.usage.total(),
    });
    json!({
        "id": format!("resp_{}", reply.id),
        "object": "response",
        "created_at": 0,
        "status": status,
        "error": null,
        "incomplete_details": null,
        "model": reply.model,
        "output": output,
        "parallel_tool_calls": true,
        "usage": if status == "in_progress" { Value::Null } else { usage },
    })
}

/// The output items, complete.
fn items(reply: &Reply) -> Vec<Value> {
    let message = reply.text.as_ref().map(|text| {
        let part = if reply.refusal {
            json!({"type": "refusal", "refusal": text})
        } else {
            json!({"type": "output_text", "text": text, "annotations": []})
        };
        let id = format!("msg_{}", reply.id);
        json!({"type": "message", "id": id, "status": "completed", "role": "assistant", "content": [part]})
    });
    message.into_iter().chain(reply.calls.iter().map(call)).collect()
}

fn call(call: &Call) -> Value {
    let id = call.id.trim_start_matches("call_");
    let (mut item, namespace) = match &call.target {
        Target::Function {
            name,
            namespace,
            arguments,
        } => {
            let item = json!({"type": "function_call", "id": format!("fc_{id}"), "name": name, "arguments": arguments});
            (item, namespace)
        }
        Target::LocalShell { command } => {
            let action = json!({"type": "exec", "command": ["bash", "-lc", command], "env": {}});
            (
                json!({"type": "local_shell_call", "id": format!("lsh_{id}"), "action": action}),
                &None,
            )
        }
        Target::ToolSearch { query } => {
            let arguments = json!({"query": query, "limit": 20});
            let item = json!({"type": "tool_search_call", "id": format!("tsc_{id}"), "execution": "client", "arguments": arguments});
            (item, &None)
        }
        Target::JavaScript {
            name,
            namespace,
            source,
        } => {
            let item = json!({"type": "custom_tool_call", "id": format!("ctc_{id}"), "name": name, "input": source});
            (item, namespace)
        }
    };
    item["call_id"] = json!(call.id);
    item["status"] = json!("completed");
    if let Some(namespace) = namespace {
        item["namespace"] = json!(namespace);
    }
    item
}

/// Events in order, numbered as the API numbers them.
struct Events {
    frames: Vec<Bytes>,
}

impl Events {
    fn start(reply: &Reply) -> Self {
        let mut events = Self { frames: Vec::new() };
        let response = response(reply, "in_progress", &[]);
        events.push("response.created", json!({ "response": response }));
        events.push("response.in_progress", json!({ "response": response }));
        events
    }

    fn push(&mut self, kind: &str, mut data: Value) {
        data["type"] = json!(kind);
        data["sequence_number"] = json!(self.frames.len());
        self.frames.push(sse::named(kind, &data));
    }

    fn item(&mut self, index: usize, item: &Value) {
        let id = &item["id"];
        let mut started = item.clone();
        started["status"] = json!("in_progress");
        match item["type"].as_str() {
            Some("message") => self.message(index, item, started),
            Some("function_call") => {
                started["arguments"] = json!("");
                self.added(index, &started);
                let events = "response.function_call_arguments";
                self.written(index, id, events, "arguments", &item["arguments"]);
            }
            Some("custom_tool_call") => {
                started["input"] = json!("");
                self.added(index, &started);
                self.written(index, id, "response.custom_tool_call_input", "input", &item["input"]);
            }
            _ => self.added(index, &started),
        }
        self.push(
            "response.output_item.done",
            json!({"output_index": index, "item": item}),
        );
    }

    fn message(&mut self, index: usize, item: &Value, mut started: Value) {
        started["content"] = json!([]);
        self.added(index, &started);
        let part = &item["content"][0];
        let (field, events) = match part["type"].as_str() {
            Some("refusal") => ("refusal", "response.refusal"),
            _ => ("text", "response.output_text"),
        };
        let mut empty = part.clone();
        empty[field] = json!("");
        let at = |part: &Value| json!({"item_id": item["id"], "output_index": index, "content_index": 0, "part": part});
        self.push("response.content_part.added", at(&empty));
        self.written(index, &item["id"], events, field, &part[field]);
        self.push("response.content_part.done", at(part));
    }

    fn added(&mut self, index: usize, item: &Value) {
        self.push(
            "response.output_item.added",
            json!({"output_index": index, "item": item}),
        );
    }

    /// A text piece by piece, then whole.
    fn written(&mut self, index: usize, id: &Value, events: &str, field: &str, text: &Value) {
        for piece in pieces(text.as_str().unwrap_or_default()) {
            let delta = json!({"item_id": id, "output_index": index, "content_index": 0, "delta": piece});
            self.push(&format!("{events}.delta"), delta);
        }
        let done = json!({"item_id": id, "output_index": index, "content_index": 0, field: text});
        self.push(&format!("{events}.done"), done);
    }
}
