//! What one event of a stream means. Pure.

use serde_json::Value;

use super::failure::{Failure, failure_of, text};
use super::usage::Used;

/// What one event means.
pub(super) struct Step {
    pub(super) kind: Kind,
    /// Whether it says what was used in all, so that nothing more is to come.
    pub(super) last_word: bool,
}

/// What it says of the response; with the model, where it names one.
pub(super) enum Kind {
    Begun(Option<String>),
    Chunk(Option<String>),
    Complete,
    Failed(Failure),
    Other,
}

/// Reads an event, and takes in what it says was used.
///
/// Sources: <https://platform.claude.com/docs/en/build-with-claude/streaming>,
/// <https://platform.openai.com/docs/api-reference/responses-streaming>,
/// <https://platform.openai.com/docs/api-reference/chat-streaming>.
pub(super) fn step(name: &str, data: &[u8], used: &mut Used) -> Step {
    let only = |kind| Step { kind, last_word: false };
    if data == b"[DONE]" {
        return only(Kind::Complete);
    }
    // Deltas are most of a stream and say nothing here: they are not even parsed.
    let telling = ["", "message", "error", "message_start", "message_delta", "message_stop"].contains(&name)
        || (name.starts_with("response.") && name.matches('.').count() == 1);
    if !telling {
        return only(Kind::Other);
    }
    let document = serde_json::from_slice::<Value>(data).unwrap_or_default();
    used.take(&document);
    let kind = match document.get("type").and_then(Value::as_str) {
        Some(kind) => kind,
        None => name,
    };
    Step {
        last_word: is_last_word(kind, &document),
        kind: kind_of(kind, &document),
    }
}

/// Whether this event says what was used in all. Messages tells some of it at the start, and some servers of Chat Completions
/// tell with every piece how much it was so far; the last one has no choices.
fn is_last_word(kind: &str, document: &Value) -> bool {
    match kind {
        "message_delta" => document.pointer("/usage/output_tokens").is_some_and(Value::is_number),
        "response.completed" | "response.incomplete" | "response.failed" => {
            document.pointer("/response/usage").is_some_and(Value::is_object)
        }
        _ => {
            let no_choices = document
                .get("choices")
                .and_then(Value::as_array)
                .is_some_and(Vec::is_empty);
            no_choices && document.get("usage").is_some_and(Value::is_object)
        }
    }
}

fn kind_of(kind: &str, document: &Value) -> Kind {
    match kind {
        "message_start" => Kind::Begun(document.get("message").and_then(|message| text(message, "model"))),
        "response.created" | "response.in_progress" => {
            Kind::Begun(document.get("response").and_then(|response| text(response, "model")))
        }
        "message_stop" | "response.completed" | "response.incomplete" => Kind::Complete,
        "error" => Kind::Failed(document.get("error").and_then(failure_of).unwrap_or_else(|| Failure {
            code: text(document, "code"),
            message: text(document, "message").unwrap_or_else(|| "an error without words".to_owned()),
        })),
        "response.failed" => Kind::Failed(document.pointer("/response/error").and_then(failure_of).unwrap_or_else(
            || Failure {
                code: None,
                message: "the response failed".to_owned(),
            },
        )),
        _ => match document.get("error").and_then(failure_of) {
            Some(failure) => Kind::Failed(failure),
            None => Kind::Chunk(text(document, "model")),
        },
    }
}
