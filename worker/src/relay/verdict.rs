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
use super::ledger::{End, Told};
use super::step::{Kind, step};
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

#[cfg(test)]
mod tests;
