//! Reads out of the copy of a response which model answered, whether it was an answer, and what it used.

use http::HeaderMap;
use http::header::{CONTENT_TYPE, HeaderValue};
use mcproctor_proto::traffic::{
    ATTEMPT_LIMIT, ENTRY_REFUSED, GATEWAY_LIMIT, GATEWAY_UNREACHABLE, ModelRefusal, TOKEN_REFUSED,
};
use serde_json::Value;

use super::content::Decoder;
use super::credential::Key;
use super::endpoint::Dialect;
use super::failure::{Failure, failure_of, failure_of_body, shorten, text};
use super::traffic::{End, Told};
use super::usage::Used;
use crate::sse::Events;

/// The longest body or event that is read whole; of a longer one neither the model nor what it used is known.
const LIMIT: usize = 1024 * 1024;

/// What a gateway refuses for on its own account.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Ours(&'static str);

/// What gateways answer with.
const OURS: [&str; 4] = [ATTEMPT_LIMIT, GATEWAY_LIMIT, TOKEN_REFUSED, ENTRY_REFUSED];

impl Ours {
    /// Reads a gateway's mark.
    pub(super) fn of(mark: &HeaderValue) -> Option<Self> {
        OURS.into_iter()
            .find(|code| mark.as_bytes() == code.as_bytes())
            .map(Self)
    }

    /// Whether an API calls something by one of these names.
    fn is_claimed_by(code: &str) -> bool {
        OURS.contains(&code) || code == GATEWAY_UNREACHABLE
    }
}

/// What the copy of a response body says.
pub(super) struct Reading {
    status: u16,
    retry_after_ms: Option<u64>,
    /// The refusal of a gateway, and not of the API behind it.
    ours: Option<Ours>,
    decoder: Decoder,
    body: Body,
    model: Option<String>,
    used: Used,
    /// Whether the last word on what was used has come.
    whole: bool,
    bytes: u64,
    failure: Option<Failure>,
}

enum Body {
    /// A stream of events.
    Events {
        events: Events,
        /// Whether the first event of a dialect with a last one has come.
        begun: bool,
        /// Whether the last event has come.
        complete: bool,
        /// Whether any event has come.
        any: bool,
    },
    /// One document.
    Whole(Vec<u8>),
}

impl Reading {
    pub(super) fn new(dialect: Dialect, status: u16, headers: &HeaderMap, retry_after_ms: Option<u64>) -> Self {
        let media_type = headers
            .get(CONTENT_TYPE)
            .and_then(|value| value.to_str().ok())
            .unwrap_or_default();
        let streamed = media_type
            .trim_start()
            .to_ascii_lowercase()
            .starts_with("text/event-stream");
        let body = if streamed && (200..300).contains(&status) {
            Body::Events {
                events: Events::new(LIMIT),
                begun: false,
                complete: false,
                any: false,
            }
        } else {
            Body::Whole(Vec::new())
        };
        Self {
            status,
            retry_after_ms,
            ours: None,
            decoder: Decoder::new(headers),
            body,
            model: None,
            used: Used::new(dialect),
            whole: false,
            bytes: 0,
            failure: None,
        }
    }

    /// Notes that a gateway marked the response as its own refusal.
    pub(super) fn by(mut self, ours: Option<Ours>) -> Self {
        self.ours = ours;
        self
    }

    /// Takes one more piece of the body, as it came.
    pub(super) fn feed(&mut self, piece: &[u8]) {
        let Self {
            decoder,
            body,
            model,
            used,
            whole: told_whole,
            bytes: read,
            failure,
            ..
        } = self;
        decoder.feed(piece, |bytes| {
            *read = read.saturating_add(bytes.len() as u64);
            match body {
                Body::Whole(whole) => {
                    let room = (LIMIT + 1).saturating_sub(whole.len()).min(bytes.len());
                    whole.extend_from_slice(&bytes[..room]);
                }
                Body::Events {
                    events,
                    begun,
                    complete,
                    any,
                } => events.feed(bytes, |name, data| {
                    *any = true;
                    let step = step(name, data, used);
                    *told_whole |= step.last_word;
                    match step.kind {
                        Kind::Begun(named) => {
                            *begun = true;
                            *model = named.or(model.take());
                        }
                        Kind::Chunk(named) => *model = model.take().or(named),
                        Kind::Complete => *complete = true,
                        Kind::Failed(why) => *failure = Some(why),
                        Kind::Other => {}
                    }
                }),
            }
        });
    }

    /// Whether the response has said all that it will say, so that nothing is lost when the agent leaves now.
    pub(super) fn complete(&self) -> bool {
        self.failure.is_some() || matches!(self.body, Body::Events { complete: true, .. })
    }

    /// What is known of the response so far; what it used is told of a document only at its end.
    pub(super) fn told(&self) -> Told {
        Told {
            model: self.model.clone(),
            tokens: self.used.tokens(),
            whole: self.used.tokens().is_some()
                && (self.whole || matches!(self.body, Body::Events { complete: true, .. })),
            // How much there is of a body that cannot be read nobody knows.
            bytes: match self.decoder {
                Decoder::Opaque => u64::MAX,
                _ => self.bytes,
            },
        }
    }

    /// The response came to its end.
    pub(super) fn finish(mut self, key: &Key) -> (End, Told) {
        if let Body::Whole(whole) = &self.body
            && (200..300).contains(&self.status)
        {
            let document = serde_json::from_slice::<Value>(whole).unwrap_or_default();
            self.model = text(&document, "model");
            self.used.take(&document);
            self.failure = document.get("error").and_then(failure_of);
        }
        let mut told = self.told();
        let end = self.end(key);
        // It came to its own end, so whatever it told was its last word.
        told.whole |= told.tokens.is_some() && matches!(end, End::Succeeded { .. });
        (end, told)
    }

    fn end(mut self, key: &Key) -> End {
        let opaque = matches!(self.decoder, Decoder::Opaque);
        match std::mem::replace(&mut self.body, Body::Whole(Vec::new())) {
            Body::Whole(whole) if !(200..300).contains(&self.status) => {
                let failure = failure_of_body(&whole);
                self.refused(failure, key)
            }
            Body::Whole(_) => match self.failure.take() {
                Some(failure) => self.refused(failure, key),
                None => End::Succeeded { model: self.model },
            },
            Body::Events {
                begun, complete, any, ..
            } => match self.failure.take() {
                Some(failure) => self.refused(failure, key),
                // Chat Completions has no last event that every server sends; the other dialects do.
                None if complete || opaque || (any && !begun) => End::Succeeded { model: self.model },
                None => self.refused(
                    Failure {
                        code: Some("stream_ended_early".to_owned()),
                        message: "the stream ended before the response did".to_owned(),
                    },
                    key,
                ),
            },
        }
    }

    /// The response broke off.
    pub(super) fn broken(mut self, why: String, key: &Key) -> (End, Told) {
        let told = self.told();
        let failure = self.failure.take().unwrap_or(Failure {
            code: Some("connection_lost".to_owned()),
            message: why,
        });
        (self.refused(failure, key), told)
    }

    fn refused(&self, failure: Failure, key: &Key) -> End {
        // A gateway between here and the API holds the attempt to the same allowance as the relay.
        if self.ours == Some(Ours(ATTEMPT_LIMIT)) {
            return End::Limited;
        }
        let code = match self.ours {
            Some(Ours(code)) => Some(code.to_owned()),
            None => failure.code.filter(|code| !Ours::is_claimed_by(code)),
        };
        End::Refused(ModelRefusal {
            status: self.status,
            code,
            message: shorten(&key.redact(&failure.message)),
            retry_after_ms: self.retry_after_ms,
        })
    }
}

/// What one event means.
struct Step {
    kind: Kind,
    /// Whether it says what was used in all, so that nothing more is to come.
    last_word: bool,
}

enum Kind {
    Begun(Option<String>),
    Chunk(Option<String>),
    Complete,
    Failed(Failure),
    Other,
}

/// Sources: <https://platform.claude.com/docs/en/build-with-claude/streaming>,
/// <https://platform.openai.com/docs/api-reference/responses-streaming>,
/// <https://platform.openai.com/docs/api-reference/chat-streaming>.
fn step(name: &str, data: &[u8], used: &mut Used) -> Step {
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

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::panic)]

    use super::*;
    use mcproctor_proto::agent::Credential;

    fn end(status: u16, media_type: &str, body: &str) -> End {
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_TYPE, media_type.parse().unwrap());
        let mut reading = Reading::new(Dialect::OpenAi, status, &headers, Some(7));
        for piece in body.as_bytes().chunks(5) {
            reading.feed(piece);
        }
        reading
            .finish(&Key::new(Dialect::OpenAi, &Credential::ApiKey("sentinel".to_owned().into())).unwrap())
            .0
    }

    fn refusal(end: End) -> (u16, Option<String>, String) {
        match end {
            End::Refused(refusal) => (refusal.status, refusal.code, refusal.message),
            other => panic!("{other:?}"),
        }
    }

    fn succeeded(model: &str) -> End {
        End::Succeeded {
            model: Some(model.to_owned()),
        }
    }

    const SSE: &str = "text/event-stream; charset=utf-8";

    #[test]
    fn whole_streams_of_every_dialect_are_successes_and_name_their_model() {
        let messages = "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"model\":\"claude-x\"}}\n\n\
                        event: ping\ndata: {\"type\":\"ping\"}\n\nevent: message_stop\ndata: {\"type\":\"message_stop\"}\n\n";
        let responses = "event: response.created\ndata: {\"type\":\"response.created\",\"response\":{\"model\":\"gpt-x\"}}\n\n\
                         event: response.output_text.delta\ndata: {\"type\":\"error\"}\n\n\
                         event: response.completed\ndata: {\"type\":\"response.completed\",\"response\":{\"error\":null}}\n\n";
        let unnamed = "data: {\"type\":\"response.created\",\"response\":{\"model\":\"gpt-x\"}}\n\n\
                       data: {\"type\":\"response.completed\"}\n\n";
        let chat = "data: {\"object\":\"chat.completion.chunk\",\"model\":\"gpt-x\",\"choices\":[]}\n\n";
        assert_eq!(end(200, SSE, messages), succeeded("claude-x"));
        assert_eq!(end(200, SSE, responses), succeeded("gpt-x"));
        assert_eq!(end(200, SSE, unnamed), succeeded("gpt-x"));
        assert_eq!(end(200, SSE, chat), succeeded("gpt-x"));
        assert_eq!(end(200, SSE, &format!("{chat}data: [DONE]\n\n")), succeeded("gpt-x"));
        assert_eq!(
            end(200, "application/json", r#"{"model":"gpt-x","error":null}"#),
            succeeded("gpt-x")
        );
    }

    #[test]
    fn an_error_inside_a_stream_of_status_200_is_a_refusal() {
        let start = "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"model\":\"claude-x\"}}\n\n";
        let overloaded = "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"Overloaded\"}}\n\n";
        assert_eq!(
            refusal(end(200, SSE, &format!("{start}{overloaded}"))),
            (200, Some("overloaded_error".into()), "Overloaded".into())
        );
        let failed = "event: response.failed\ndata: {\"type\":\"response.failed\",\"response\":{\"error\":{\"code\":\
                      \"rate_limit_exceeded\",\"message\":\"slow\"}}}\n\n";
        assert_eq!(
            refusal(end(200, SSE, failed)),
            (200, Some("rate_limit_exceeded".into()), "slow".into())
        );
        let flat =
            "event: error\ndata: {\"type\":\"error\",\"code\":\"server_error\",\"message\":\"bad\",\"param\":null}\n\n";
        assert_eq!(
            refusal(end(200, SSE, flat)),
            (200, Some("server_error".into()), "bad".into())
        );
        let chat = "data: {\"error\":{\"message\":\"rate limited\",\"code\":\"rate_limit_exceeded\"}}\n\n";
        assert_eq!(
            refusal(end(200, SSE, chat)),
            (200, Some("rate_limit_exceeded".into()), "rate limited".into())
        );
    }

    #[test]
    fn a_stream_cut_cleanly_before_its_last_event_is_a_refusal() {
        let start =
            "event: response.created\ndata: {\"type\":\"response.created\",\"response\":{\"model\":\"gpt-x\"}}\n\n";
        assert_eq!(refusal(end(200, SSE, start)).1.as_deref(), Some("stream_ended_early"));
        assert_eq!(refusal(end(200, SSE, "")).1.as_deref(), Some("stream_ended_early"));
    }

    #[test]
    fn only_a_gateways_mark_makes_a_refusal_a_gateways() {
        for code in OURS {
            let body = format!(r#"{{"error":{{"message":"no","code":"{code}"}}}}"#);
            assert_eq!(refusal(end(400, "application/json", &body)), (400, None, "no".into()));
            let mark = Ours::of(&HeaderValue::from_static(code));
            let key = Key::new(Dialect::OpenAi, &Credential::None).unwrap();
            let reading = Reading::new(Dialect::OpenAi, 400, &HeaderMap::new(), None).by(mark);
            match (code, reading.finish(&key).0) {
                (ATTEMPT_LIMIT, End::Limited) => {}
                (_, end) => assert_eq!(refusal(end).1.as_deref(), Some(code)),
            }
        }
        assert_eq!(Ours::of(&HeaderValue::from_static("insufficient_quota")), None);
    }

    #[test]
    fn refusals_keep_code_and_words_without_the_key_and_cut() {
        let spent = r#"{"type":"error","error":{"type":"rate_limit_error","message":"cap","details":{"error_code":"enforced_spend_limit_reached"}}}"#;
        assert_eq!(
            refusal(end(429, "application/json", spent)).1.as_deref(),
            Some("enforced_spend_limit_reached")
        );
        let wrong =
            r#"{"error":{"message":"wrong key sentinel","type":"invalid_request_error","code":"invalid_api_key"}}"#;
        assert_eq!(
            refusal(end(401, "application/json", wrong)),
            (401, Some("invalid_api_key".into()), "wrong key [redacted]".into())
        );
        assert_eq!(
            refusal(end(400, "application/json", r#"{"detail":"no"}"#)),
            (400, None, "no".into())
        );
        let html = format!("<html>{}", "ü".repeat(500));
        let (status, code, message) = refusal(end(503, "text/html", &html));
        assert_eq!((status, code, message.chars().count()), (503, None, 300));
        assert_eq!(refusal(end(500, "application/json", "")), (500, None, String::new()));
    }
}
