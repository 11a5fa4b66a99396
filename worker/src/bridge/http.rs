//! The Streamable HTTP side.
//!
//! Source: <https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#streamable-http> and the stateless
//! form of 2026-07-28.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::header::{ACCEPT, ALLOW, CACHE_CONTROL, CONTENT_TYPE, HOST, HeaderName, HeaderValue, ORIGIN};
use http::{HeaderMap, Method, Request, Response, StatusCode};
use http_body_util::{BodyExt, LengthLimitError, Limited};
use hyper::body::Incoming;
use rand::TryRng;
use rand::rngs::SysRng;
use serde_json::json;

use super::message::{Kind, Message, parse_all};
use super::reply::Reply;
use super::switchboard::{Receiver, Switchboard};
use mcproctor_proto::call::SERVER_EXITED;

/// The only path that is served.
pub(super) const PATH: &str = "/mcp";

const SESSION: HeaderName = HeaderName::from_static("mcp-session-id");
const VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");

/// The first revision without sessions.
const STATELESS: &str = "2026-07-28";

/// What every request of one bridge shares.
pub(super) struct Endpoint {
    pub(super) switchboard: Arc<Switchboard>,
    pub(super) body_limit: usize,
    pub(super) keep_alive: Duration,
}

impl Endpoint {
    /// Answers one request.
    pub(super) async fn answer(&self, request: Request<Incoming>) -> Result<Response<Reply>, Infallible> {
        Ok(self.route(request).await.unwrap_or_else(Refusal::into_response))
    }

    async fn route(&self, request: Request<Incoming>) -> Result<Response<Reply>, Refusal> {
        if !from_here(request.headers()) {
            return Err(Refusal::new(
                StatusCode::FORBIDDEN,
                -32000,
                "this endpoint is for this machine only",
            ));
        }
        if request.uri().path() != PATH {
            return Err(Refusal::new(StatusCode::NOT_FOUND, -32000, "there is nothing here"));
        }
        if let Some(why) = self.switchboard.gone() {
            return Err(Refusal::new(StatusCode::BAD_GATEWAY, SERVER_EXITED, &why));
        }
        match *request.method() {
            Method::POST => self.post(request).await,
            Method::GET => {
                if stateless_version(request.headers()) {
                    return Err(Refusal::method());
                }
                let session = self.session(request.headers())?;
                if !accepts(request.headers(), "text/event-stream") {
                    return Err(Refusal::new(
                        StatusCode::NOT_ACCEPTABLE,
                        -32000,
                        "a GET has to accept text/event-stream",
                    ));
                }
                Ok(self.events(self.switchboard.listen(session), None))
            }
            Method::DELETE => {
                let session = self.session(request.headers())?;
                self.switchboard.end_session(session);
                Ok(reply(StatusCode::OK, Reply::document([])))
            }
            _ => Err(Refusal::method()),
        }
    }

    async fn post(&self, request: Request<Incoming>) -> Result<Response<Reply>, Refusal> {
        let (head, body) = request.into_parts();
        let body = Limited::new(body, self.body_limit).collect().await.map_err(|error| {
            if error.is::<LengthLimitError>() {
                Refusal::new(StatusCode::PAYLOAD_TOO_LARGE, -32000, "the message is too long")
            } else {
                Refusal::new(StatusCode::BAD_REQUEST, -32700, "the body broke off")
            }
        })?;
        let (messages, batch) = parse_all(body.to_bytes().into())
            .ok_or_else(|| Refusal::new(StatusCode::BAD_REQUEST, -32700, "the body is no JSON-RPC message"))?;

        let initialize = messages
            .iter()
            .any(|message| message.kind == Kind::Request("initialize".to_owned()));
        let stateless = stateless_version(&head.headers) || messages.iter().any(is_stateless);
        let new_session = if initialize { Some(self.new_session()?) } else { None };
        let session = match &new_session {
            Some(session) => Some(session.as_str()),
            None if head.headers.contains_key(SESSION) => Some(self.session(&head.headers)?),
            None if stateless => None,
            None => {
                return Err(Refusal::new(
                    StatusCode::BAD_REQUEST,
                    -32000,
                    "Mcp-Session-Id is missing",
                ));
            }
        };

        let requests = messages
            .iter()
            .filter(|message| matches!(message.kind, Kind::Request(_)))
            .count();
        let events = accepts(&head.headers, "text/event-stream");
        match self.switchboard.client_sent(session, messages, requests, events) {
            None => Ok(reply(StatusCode::ACCEPTED, Reply::document([]))),
            Some(receiver) if events => Ok(self.events(receiver, new_session.as_deref())),
            Some(receiver) => Ok(with_session(document(receiver, batch).await, new_session.as_deref())),
        }
    }

    fn session<'a>(&self, headers: &'a HeaderMap) -> Result<&'a str, Refusal> {
        let session = headers
            .get(SESSION)
            .ok_or_else(|| Refusal::new(StatusCode::BAD_REQUEST, -32000, "Mcp-Session-Id is missing"))?;
        session
            .to_str()
            .ok()
            .filter(|session| self.switchboard.has_session(session))
            .ok_or_else(|| Refusal::new(StatusCode::NOT_FOUND, -32001, "there is no such session"))
    }

    fn new_session(&self) -> Result<String, Refusal> {
        let mut id = [0; 16];
        SysRng.try_fill_bytes(&mut id).map_err(|_| {
            Refusal::new(
                StatusCode::INTERNAL_SERVER_ERROR,
                -32603,
                "the system gave no random bytes for a session",
            )
        })?;
        let id = hex::encode(id);
        self.switchboard.open_session(id.clone());
        Ok(id)
    }

    fn events(&self, receiver: Receiver, new_session: Option<&str>) -> Response<Reply> {
        let mut response = with_session(
            reply(StatusCode::OK, Reply::events(receiver, self.keep_alive)),
            new_session,
        );
        response
            .headers_mut()
            .insert(CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
        response
            .headers_mut()
            .insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
        response
    }
}

/// All answers in one document, for clients that take no events.
async fn document(mut receiver: Receiver, batch: bool) -> Response<Reply> {
    let mut pieces = Vec::new();
    while let Some(message) = receiver.messages.recv().await {
        if batch {
            pieces.push(Bytes::from_static(if pieces.is_empty() { b"[" } else { b"," }));
        }
        pieces.extend(message);
    }
    if batch {
        pieces.push(Bytes::from_static(b"]"));
    }
    let mut response = reply(StatusCode::OK, Reply::document(pieces));
    response
        .headers_mut()
        .insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}

fn is_stateless(message: &Message) -> bool {
    // A client that does not know the server yet asks for it in the newest form first.
    message.stateless || message.kind == Kind::Request("server/discover".to_owned())
}

fn stateless_version(headers: &HeaderMap) -> bool {
    // Revisions are dates, so that their order is the order of their texts.
    headers
        .get(VERSION)
        .is_some_and(|version| version.as_bytes() >= STATELESS.as_bytes())
}

fn accepts(headers: &HeaderMap, media_type: &str) -> bool {
    headers
        .get_all(ACCEPT)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .any(|range| {
            range
                .split(';')
                .next()
                .unwrap_or_default()
                .trim()
                .eq_ignore_ascii_case(media_type)
        })
}

/// Whether the request was meant for this machine; a page whose name was rebound to loopback still sends its own name.
fn from_here(headers: &HeaderMap) -> bool {
    let loopback = |name: HeaderName| {
        let Some(value) = headers.get(name) else { return true };
        let Ok(text) = value.to_str() else { return false };
        let authority = text
            .split_once("://")
            .map_or(text, |(_, rest)| rest)
            .parse::<http::uri::Authority>();
        authority.is_ok_and(|authority| {
            let host = authority.host().trim_start_matches('[').trim_end_matches(']');
            host.eq_ignore_ascii_case("localhost") || host.parse::<std::net::IpAddr>().is_ok_and(|ip| ip.is_loopback())
        })
    };
    loopback(HOST) && loopback(ORIGIN)
}

fn reply(status: StatusCode, body: Reply) -> Response<Reply> {
    let mut response = Response::new(body);
    *response.status_mut() = status;
    response
}

fn with_session(mut response: Response<Reply>, session: Option<&str>) -> Response<Reply> {
    if let Some(session) = session.and_then(|session| HeaderValue::try_from(session).ok()) {
        response.headers_mut().insert(SESSION, session);
    }
    response
}

/// Why a request is not handed on.
struct Refusal {
    status: StatusCode,
    code: i32,
    message: String,
}

impl Refusal {
    fn new(status: StatusCode, code: i32, message: &str) -> Self {
        Self {
            status,
            code,
            message: message.to_owned(),
        }
    }

    fn method() -> Self {
        Self::new(StatusCode::METHOD_NOT_ALLOWED, -32000, "this method is not served")
    }

    fn into_response(self) -> Response<Reply> {
        let error = json!({"jsonrpc": "2.0", "id": null, "error": {"code": self.code, "message": self.message}});
        let mut response = reply(self.status, Reply::document([Bytes::from(error.to_string())]));
        response
            .headers_mut()
            .insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        if self.status == StatusCode::METHOD_NOT_ALLOWED {
            response
                .headers_mut()
                .insert(ALLOW, HeaderValue::from_static("POST, GET, DELETE"));
        }
        response
    }
}
