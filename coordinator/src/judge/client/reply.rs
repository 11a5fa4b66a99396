//! Reads a successful response (OpenAI API reference, "The chat completion object").

use mcproctor_proto::turn::Usage;
use serde_json::Value;

use super::error::AskError;
use crate::surrogates::without_lone_surrogates;

/// What came back.
#[derive(Debug, PartialEq)]
pub(super) struct Reply {
    /// What the model said, or why there is nothing to be read in it. A judge that failed says nothing about an agent.
    pub(super) content: Result<String, AskError>,
    /// The model, as the endpoint names it.
    pub(super) model: Option<String>,
    /// What it cost, also when it was for nothing.
    pub(super) usage: Usage,
}

/// Reads the body of a response whose status is a success.
pub(super) fn read(body: &[u8]) -> Reply {
    let text = String::from_utf8_lossy(body);
    let value: Value = match serde_json::from_str(&without_lone_surrogates(&text)) {
        Ok(value) => value,
        Err(error) => {
            return Reply {
                content: Err(AskError::Unreadable(format!("it is not JSON ({error})"))),
                model: None,
                usage: Usage::default(),
            };
        }
    };
    Reply {
        content: content(&value),
        model: value
            .get("model")
            .and_then(Value::as_str)
            .filter(|model| !model.is_empty())
            .map(str::to_owned),
        usage: usage(&value),
    }
}

fn content(value: &Value) -> Result<String, AskError> {
    let Some(choice) = value.pointer("/choices/0") else {
        // Some gateways report errors under a status that says success.
        return Err(match value.pointer("/error/message").and_then(Value::as_str) {
            Some(message) => AskError::Unreadable(message.to_owned()),
            None => AskError::Unreadable("it holds no choice".to_owned()),
        });
    };
    match choice.get("finish_reason").and_then(Value::as_str) {
        Some("length") => return Err(AskError::Cut),
        Some("content_filter") => return Err(AskError::Filtered),
        _ => {}
    }
    let text = match choice.pointer("/message/content") {
        Some(Value::String(text)) => text.clone(),
        // A list of parts, as some servers send it.
        Some(Value::Array(parts)) => parts
            .iter()
            .filter_map(|part| part.get("text").and_then(Value::as_str))
            .collect(),
        _ => String::new(),
    };
    if !text.trim().is_empty() {
        return Ok(text);
    }
    if let Some(refusal) = choice.pointer("/message/refusal").and_then(Value::as_str) {
        return Err(AskError::ModelRefused(refusal.to_owned()));
    }
    let thoughts = ["/message/reasoning_content", "/message/reasoning"];
    let thought = thoughts.iter().any(|place| {
        choice
            .pointer(place)
            .and_then(Value::as_str)
            .is_some_and(|text| !text.trim().is_empty())
    });
    Err(AskError::NoContent(if thought { ", only thoughts" } else { "" }))
}

fn usage(value: &Value) -> Usage {
    let tokens = |pointer: &str| value.pointer(pointer).and_then(Value::as_u64);
    Usage {
        input_tokens: tokens("/usage/prompt_tokens"),
        output_tokens: tokens("/usage/completion_tokens"),
        cached_input_tokens: tokens("/usage/prompt_tokens_details/cached_tokens"),
        // Not in OpenAI's own responses; gateways that bill add it.
        cost_usd: value
            .pointer("/usage/cost")
            .and_then(Value::as_f64)
            .filter(|cost| cost.is_finite() && *cost >= 0.0),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use serde_json::json;

    use super::*;

    fn content_of(choice: Value) -> Result<String, AskError> {
        read(json!({ "choices": [choice] }).to_string().as_bytes()).content
    }

    #[test]
    fn an_answer_is_read_with_its_model_and_its_price() {
        let body = json!({
            "model": "judge-1", "choices": [{ "finish_reason": "stop", "message": { "content": "yes" } }],
            "usage": { "prompt_tokens": 10, "completion_tokens": 2, "prompt_tokens_details": { "cached_tokens": 4 }, "cost": 0.25 },
        });
        let reply = read(body.to_string().as_bytes());
        assert_eq!(reply.content.unwrap(), "yes");
        assert_eq!(reply.model.as_deref(), Some("judge-1"));
        let usage = reply.usage;
        assert_eq!((usage.input_tokens, usage.output_tokens), (Some(10), Some(2)));
        assert_eq!((usage.cached_input_tokens, usage.cost_usd), (Some(4), Some(0.25)));
        let parts =
            json!({ "message": { "content": [{ "type": "text", "text": "ye" }, { "type": "text", "text": "s" }] } });
        assert_eq!(content_of(parts).unwrap(), "yes");
    }

    #[test]
    fn an_answer_without_content_is_an_error_with_its_cause() {
        for (choice, cause) in [
            (json!({ "message": { "content": null } }), "the answer has no content"),
            (json!({ "message": { "content": "  " } }), "the answer has no content"),
            (json!({ "message": {} }), "the answer has no content"),
            (json!({}), "the answer has no content"),
            (
                json!({ "message": { "content": null, "reasoning_content": "{\"verdict\":\"fail\"}" } }),
                "the answer has no content, only thoughts",
            ),
            (
                json!({ "message": { "content": null, "refusal": "I cannot help with that." } }),
                "the model refused: I cannot help with that.",
            ),
            (
                json!({ "finish_reason": "length", "message": { "content": "{\"verdict\":\"fail\",\"reasoning\":\"It" } }),
                "the answer was cut at the model's limit of tokens (finish_reason length)",
            ),
            (
                json!({ "finish_reason": "content_filter", "message": { "content": "" } }),
                "the answer was held back by a content filter",
            ),
        ] {
            assert_eq!(content_of(choice.clone()).unwrap_err().to_string(), cause, "{choice}");
        }
    }

    #[test]
    fn half_a_character_does_not_make_an_answer_unreadable() {
        let body = br#"{"choices":[{"message":{"content":"cut \ud83d off"}}]}"#;
        assert_eq!(read(body).content.unwrap(), "cut \u{fffd} off");
    }

    #[test]
    fn what_is_no_completion_is_an_error() {
        for body in ["", "<html>", "[]", "{}", "{\"choices\":[]}", "{\"choices\":{}}", "null"] {
            assert!(
                matches!(read(body.as_bytes()).content, Err(AskError::Unreadable(_))),
                "{body}"
            );
        }
        let error = read(b"{\"error\":{\"message\":\"Provider returned error\",\"code\":429}}").content;
        assert!(error.unwrap_err().to_string().contains("Provider returned error"));
    }

    #[test]
    fn what_an_answer_cost_is_known_also_when_it_is_of_no_use() {
        let body =
            br#"{"choices":[{"finish_reason":"length","message":{"content":"x"}}],"usage":{"completion_tokens":8192}}"#;
        assert_eq!(read(body).usage.output_tokens, Some(8_192));
    }
}
