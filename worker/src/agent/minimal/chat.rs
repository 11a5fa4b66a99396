//! The model, asked in the Chat Completions dialect (OpenAI API reference, "Create chat completion").

use http::{HeaderMap, HeaderName, HeaderValue, Method, header};
use serde::Deserialize;
use serde_json::{Value, json};
use thiserror::Error;

use super::Tokens;
use super::http::{Http, HttpError};
use crate::agent::escape::shorten;

/// Times a request is sent again after a refusal that may pass.
const RETRIES: u32 = 3;

/// Why the model gave no reply.
#[derive(Debug, Error)]
pub(super) enum ChatError {
    #[error(transparent)]
    Http(#[from] HttpError),
    #[error("it answered with status {status}: {message}")]
    Refused { status: u16, message: String },
    #[error("its reply cannot be read: {0}")]
    Unreadable(String),
}

/// A model.
#[derive(Debug)]
pub(super) struct Chat {
    http: Http,
    url: String,
    model: String,
    key: Option<String>,
}

/// One reply of the model.
#[derive(Debug)]
pub(super) struct ModelReply {
    /// As it has to stand in the conversation.
    pub(super) message: Value,
    pub(super) text: String,
    pub(super) calls: Vec<Call>,
    pub(super) usage: Tokens,
}

/// A tool call that the model asks for.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Call {
    pub(super) id: String,
    pub(super) name: String,
    /// As the model wrote them; meant to be JSON.
    pub(super) arguments: String,
}

impl Chat {
    pub(super) fn new(base_url: &str, model: &str, key: Option<String>) -> Self {
        Self {
            http: Http::new(),
            url: format!("{}/chat/completions", base_url.trim_end_matches('/')),
            model: model.to_owned(),
            key,
        }
    }

    pub(super) async fn complete(&self, messages: &[Value], tools: &[Value]) -> Result<ModelReply, ChatError> {
        let mut request = json!({ "model": self.model, "messages": messages });
        // An empty list of tools is refused.
        if !tools.is_empty() {
            request["tools"] = json!(tools);
        }
        let body = request.to_string().into_bytes();
        let mut attempt = 0;
        loop {
            let reply = self
                .http
                .send(Method::POST, &self.url, self.headers(), body.clone())
                .await?;
            let (status, wait) = (reply.status, retry_after(&reply.headers));
            let bytes = reply.bytes().await?;
            if status.is_success() {
                return read(&bytes);
            }
            let may_pass = status.as_u16() == 429 || status.is_server_error();
            if !may_pass || attempt == RETRIES {
                return Err(ChatError::Refused {
                    status: status.as_u16(),
                    message: refusal(&bytes),
                });
            }
            let wait = wait.unwrap_or(std::time::Duration::from_millis(500) * 2_u32.pow(attempt));
            tokio::time::sleep(wait).await;
            attempt += 1;
        }
    }

    fn headers(&self) -> HeaderMap {
        let mut headers = HeaderMap::new();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
        if let Some(Ok(mut value)) = self
            .key
            .as_ref()
            .map(|key| HeaderValue::from_str(&format!("Bearer {key}")))
        {
            value.set_sensitive(true);
            headers.insert(header::AUTHORIZATION, value);
        }
        headers
    }
}

/// Seconds of `Retry-After` (RFC 9110, section 10.2.3) or milliseconds of `retry-after-ms`, at most a minute.
fn retry_after(headers: &HeaderMap) -> Option<std::time::Duration> {
    let number = |name: HeaderName| headers.get(name)?.to_str().ok()?.trim().parse::<u64>().ok();
    let millis = number(HeaderName::from_static("retry-after-ms"))
        .or_else(|| number(header::RETRY_AFTER).map(|seconds| seconds.saturating_mul(1_000)))?;
    Some(std::time::Duration::from_millis(millis.min(60_000)))
}

fn refusal(bytes: &[u8]) -> String {
    let value: Value = serde_json::from_slice(bytes).unwrap_or_default();
    let message = value
        .pointer("/error/message")
        .and_then(Value::as_str)
        .map(str::to_owned);
    shorten(
        &message.unwrap_or_else(|| String::from_utf8_lossy(bytes).into_owned()),
        500,
    )
}

#[derive(Deserialize)]
struct Completion {
    choices: Vec<Choice>,
    usage: Option<Usage>,
}

#[derive(Deserialize)]
struct Choice {
    message: Value,
    finish_reason: Option<String>,
}

#[derive(Deserialize)]
struct Usage {
    #[serde(default)]
    prompt_tokens: u64,
    #[serde(default)]
    completion_tokens: u64,
    prompt_tokens_details: Option<Details>,
}

#[derive(Deserialize)]
struct Details {
    #[serde(default)]
    cached_tokens: u64,
}

fn read(bytes: &[u8]) -> Result<ModelReply, ChatError> {
    let unreadable = |reason: &str| ChatError::Unreadable(reason.to_owned());
    let completion: Completion =
        serde_json::from_slice(bytes).map_err(|error| ChatError::Unreadable(error.to_string()))?;
    let choice = completion
        .choices
        .into_iter()
        .next()
        .ok_or_else(|| unreadable("it holds no choice"))?;
    let field = |value: &Value, path: &str| {
        value
            .pointer(path)
            .and_then(Value::as_str)
            .unwrap_or_default()
            .to_owned()
    };
    let calls: Vec<Call> = choice
        .message
        .get("tool_calls")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .map(|call| Call {
            id: field(call, "/id"),
            name: field(call, "/function/name"),
            arguments: field(call, "/function/arguments"),
        })
        .collect();
    let text = field(&choice.message, "/content");
    let text = if text.is_empty() {
        field(&choice.message, "/refusal")
    } else {
        text
    };
    if calls.is_empty() && choice.finish_reason.as_deref() == Some("length") {
        return Err(unreadable("it was cut at the model's limit of tokens"));
    }
    let usage = completion.usage.map(|usage| Tokens {
        input_tokens: usage.prompt_tokens,
        output_tokens: usage.completion_tokens,
        cached_input_tokens: usage.prompt_tokens_details.map_or(0, |details| details.cached_tokens),
    });
    Ok(ModelReply {
        message: choice.message,
        text,
        calls,
        usage: usage.unwrap_or_default(),
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn reads_calls_text_and_usage() {
        let bytes =
            br#"{"choices":[{"finish_reason":"tool_calls","message":{"role":"assistant","content":null,"tool_calls":[
            {"id":"c1","type":"function","function":{"name":"get_weather","arguments":"{\"city\":\"Graz\"}"}}]}}],
            "usage":{"prompt_tokens":10,"completion_tokens":2,"prompt_tokens_details":{"cached_tokens":4}}}"#;
        let reply = read(bytes).unwrap();
        assert_eq!(reply.text, "");
        let call = Call {
            id: "c1".into(),
            name: "get_weather".into(),
            arguments: "{\"city\":\"Graz\"}".into(),
        };
        assert_eq!(reply.calls, [call]);
        assert_eq!(
            reply.usage,
            Tokens {
                input_tokens: 10,
                output_tokens: 2,
                cached_input_tokens: 4
            }
        );
    }

    #[test]
    fn an_answer_cut_at_the_limit_is_no_answer() {
        let bytes = br#"{"choices":[{"finish_reason":"length","message":{"role":"assistant","content":"It is"}}]}"#;
        assert!(read(bytes).unwrap_err().to_string().contains("cut"));
        assert!(read(b"{\"choices\":[]}").is_err());
        assert!(read(b"<html>").is_err());
    }

    #[test]
    fn waits_as_long_as_it_is_asked_to_but_not_for_ever() {
        let mut headers = HeaderMap::new();
        assert_eq!(retry_after(&headers), None);
        headers.insert("retry-after", HeaderValue::from_static("3600"));
        assert_eq!(retry_after(&headers), Some(std::time::Duration::from_secs(60)));
        headers.insert("retry-after-ms", HeaderValue::from_static("20"));
        assert_eq!(retry_after(&headers), Some(std::time::Duration::from_millis(20)));
    }
}
