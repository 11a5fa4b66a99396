//! Which API is spoken, and the one door to what differs between them.

use super::{anthropic, chat, error_body, responses};
use crate::conversation::Conversation;
use crate::reply::Reply;
use axum::http::HeaderMap;
use bytes::Bytes;
use serde::Serialize;
use serde_json::{Value, json};

/// A model API.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Dialect {
    /// Anthropic Messages, `POST /v1/messages`.
    AnthropicMessages,
    /// OpenAI Responses, `POST /v1/responses`.
    OpenaiResponses,
    /// OpenAI Chat Completions, `POST /v1/chat/completions`.
    ChatCompletions,
}

impl Dialect {
    /// Reads a request; `bytes` is the size of its body.
    pub(crate) fn read(self, request: &Value, headers: &HeaderMap, bytes: usize) -> Conversation {
        let mut conversation = match self {
            Self::AnthropicMessages => anthropic::read(request),
            Self::OpenaiResponses => responses::read(request, headers),
            Self::ChatCompletions => chat::read(request),
        };
        conversation.model = request
            .get("model")
            .and_then(Value::as_str)
            .unwrap_or("scripted-1")
            .to_owned();
        conversation.stream = request.get("stream").and_then(Value::as_bool).unwrap_or(false);
        conversation.session = session(headers);
        conversation.bytes = bytes;
        conversation
    }

    /// The reply as one JSON document.
    pub(crate) fn write(self, reply: &Reply) -> Value {
        match self {
            Self::AnthropicMessages => anthropic::write(reply),
            Self::OpenaiResponses => responses::write(reply),
            Self::ChatCompletions => chat::write(reply),
        }
    }

    /// The reply as server-sent events, one a frame.
    pub(crate) fn stream(self, reply: &Reply, conversation: &Conversation) -> Vec<Bytes> {
        match self {
            Self::AnthropicMessages => anthropic::stream(reply),
            Self::OpenaiResponses => responses::stream(reply),
            Self::ChatCompletions => chat::stream(reply, conversation.stream_usage),
        }
    }

    /// The body of an error; code and message are the API's usual ones for the status where none are given.
    pub(crate) fn error(self, status: u16, code: Option<&str>, message: Option<&str>, model: &str) -> Value {
        match self {
            Self::AnthropicMessages => error_body::anthropic(status, code, message, model),
            Self::OpenaiResponses | Self::ChatCompletions => error_body::openai(status, code, message, model),
        }
    }

    /// The start of a stream that then reports an error.
    pub(crate) fn error_events(self, reply: &Reply, message: &str) -> Vec<Bytes> {
        match self {
            Self::AnthropicMessages => anthropic::error_events(reply, message),
            Self::OpenaiResponses => responses::error_events(reply, message),
            Self::ChatCompletions => chat::error_events(message),
        }
    }
}

/// What the agent calls its conversation: codex in `session-id`, Claude Code in a header of its own.
fn session(headers: &HeaderMap) -> Option<String> {
    let names = ["session-id", "x-claude-code-session-id"];
    names
        .iter()
        .find_map(|name| headers.get(*name)?.to_str().ok().map(str::to_owned))
}

/// The list of models, in the shape of whoever asks.
pub(crate) fn models(names: &[String], anthropic: bool) -> Value {
    let names: Vec<&str> = if names.is_empty() {
        vec!["scripted-1"]
    } else {
        names.iter().map(String::as_str).collect()
    };
    if anthropic {
        let model = |name: &&str| json!({"type": "model", "id": name, "display_name": name, "created_at": "2025-01-01T00:00:00Z"});
        let data: Vec<_> = names.iter().map(model).collect();
        return json!({"data": data, "has_more": false, "first_id": names.first(), "last_id": names.last()});
    }
    let model = |name: &&str| json!({"id": name, "object": "model", "created": 0, "owned_by": "scripted-model"});
    let data: Vec<_> = names.iter().map(model).collect();
    // `models` is the key under which codex looks for its own catalogue; an empty one leaves its built-in one alone.
    json!({"object": "list", "data": data, "models": []})
}
