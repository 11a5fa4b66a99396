//! Refusals of this side, in the form of the API that the agent speaks, so that it treats them like the API's own.

use bytes::Bytes;
use http::header::{CONTENT_TYPE, HeaderName, HeaderValue};
use http::{Response, StatusCode};
use http_body_util::Full;
use serde_json::{Value, json};

use super::endpoint::Dialect;

/// Marks a refusal with a code as this side's own, and holds the code. What an API sends under this name is not passed on, so
/// that no API can speak for a gateway.
pub(super) const MARK: HeaderName = HeaderName::from_static("x-mcproctor-refusal");

/// A refusal.
#[derive(Clone, Copy, Debug)]
pub(super) struct Refusal<'a> {
    pub(super) status: StatusCode,
    /// The API's own word for this kind of error.
    pub(super) kind: &'a str,
    /// Tells refusals of the same kind apart; put where the APIs put theirs, and into the [mark](MARK).
    pub(super) code: Option<&'static str>,
    pub(super) message: &'a str,
}

impl Refusal<'_> {
    pub(super) fn reply(self, dialect: Dialect) -> Response<Full<Bytes>> {
        let Self {
            status,
            kind,
            code,
            message,
        } = self;
        let body = match dialect {
            Dialect::Anthropic => {
                let mut error = json!({"type": kind, "message": message});
                if let Some(code) = code {
                    error["details"] = json!({"error_code": code});
                }
                json!({"type": "error", "error": error})
            }
            Dialect::OpenAi => {
                let code = code.map_or(Value::Null, Value::from);
                json!({"error": {"message": message, "type": kind, "param": null, "code": code}})
            }
        };
        let mut reply = Response::new(Full::new(Bytes::from(body.to_string())));
        *reply.status_mut() = status;
        let headers = reply.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        if let Some(code) = code {
            headers.insert(MARK, HeaderValue::from_static(code));
        }
        reply
    }
}
