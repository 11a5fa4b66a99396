//! One JSON-RPC request and its answer over Streamable HTTP.

use bytes::Bytes;
use http::header::{ACCEPT, CONTENT_TYPE, HeaderName, HeaderValue};
use http::{Method, Request, Response, StatusCode};
use http_body_util::{BodyExt, Full, Limited};
use hyper::body::Incoming;
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use serde_json::{Value, json};

use super::error::ProbeError;
use crate::sse::Events;

/// The longest answer that is read.
const LIMIT: usize = 64 * 1024 * 1024;

const SESSION: HeaderName = HeaderName::from_static("mcp-session-id");
const VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");
const METHOD: HeaderName = HeaderName::from_static("mcp-method");

/// A connection to one server, with the session and version that were agreed on.
pub(super) struct Connection {
    url: String,
    http: Client<HttpConnector, Full<Bytes>>,
    session: Option<HeaderValue>,
    pub(super) version: Option<String>,
    next: u64,
}

/// What a request came to.
pub(super) enum Answer {
    /// A JSON-RPC result.
    Result(Value),
    /// A JSON-RPC error.
    Error { code: i64, message: String },
}

impl Connection {
    pub(super) fn new(url: &str) -> Result<Self, ProbeError> {
        if !url.starts_with("http://") {
            return Err(ProbeError::Address(url.to_owned()));
        }
        let http = Client::builder(TokioExecutor::new()).build_http();
        Ok(Self {
            url: url.to_owned(),
            http,
            session: None,
            version: None,
            next: 0,
        })
    }

    /// Sends a request and waits for its answer.
    pub(super) async fn ask(&mut self, method: &str, params: Value) -> Result<Answer, ProbeError> {
        let id = self.next;
        self.next += 1;
        let message = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        let response = self.send(Method::POST, Some(method), message.to_string()).await?;
        if let Some(session) = response.headers().get(SESSION) {
            self.session = Some(session.clone());
        }
        if !response.status().is_success() {
            return Err(refused(response).await);
        }
        answer(response, id).await
    }

    /// Sends a notification.
    pub(super) async fn tell(&self, method: &str) -> Result<(), ProbeError> {
        let message = json!({"jsonrpc": "2.0", "method": method});
        let response = self.send(Method::POST, Some(method), message.to_string()).await?;
        if response.status().is_success() {
            Ok(())
        } else {
            Err(refused(response).await)
        }
    }

    /// Ends the session, if there is one. A server that does not let clients do that ends it by itself.
    pub(super) async fn leave(self) {
        if self.session.is_some() {
            let _ = self.send(Method::DELETE, None, String::new()).await;
        }
    }

    async fn send(&self, method: Method, rpc: Option<&str>, body: String) -> Result<Response<Incoming>, ProbeError> {
        let address = |_| ProbeError::Address(self.url.clone());
        let mut request = Request::builder()
            .method(method)
            .uri(&self.url)
            .header(ACCEPT, "application/json, text/event-stream")
            .body(Full::new(Bytes::from(body)))
            .map_err(address)?;
        let headers = request.headers_mut();
        if let Some(rpc) = rpc.and_then(|rpc| HeaderValue::try_from(rpc).ok()) {
            headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
            headers.insert(METHOD, rpc);
        }
        if let Some(session) = &self.session {
            headers.insert(SESSION, session.clone());
        }
        if let Some(version) = self
            .version
            .as_ref()
            .and_then(|version| HeaderValue::try_from(version).ok())
        {
            headers.insert(VERSION, version);
        }
        self.http.request(request).await.map_err(|error| unreachable(&error))
    }
}

/// The answer in a JSON document or in a stream of events, where the server's own messages may come first.
async fn answer(response: Response<Incoming>, id: u64) -> Result<Answer, ProbeError> {
    let media_type = response
        .headers()
        .get(CONTENT_TYPE)
        .and_then(|value| value.to_str().ok())
        .unwrap_or_default();
    let media_type = media_type
        .split(';')
        .next()
        .unwrap_or_default()
        .trim()
        .to_ascii_lowercase();
    match media_type.as_str() {
        "application/json" => {
            let body = Limited::new(response.into_body(), LIMIT).collect().await;
            let body = body
                .map_err(|error| ProbeError::Unreachable(error.to_string()))?
                .to_bytes();
            let document = serde_json::from_slice::<Value>(&body)
                .map_err(|error| ProbeError::Protocol(format!("its answer is no JSON: {error}")))?;
            // 2025-03-26 allows a batch of one as well.
            let mut messages = match document {
                Value::Array(messages) => messages,
                message => vec![message],
            };
            messages
                .iter_mut()
                .find_map(|message| read(message.take(), id))
                .ok_or_else(|| no_answer("in its document"))
        }
        "text/event-stream" => {
            let mut events = Events::new(LIMIT);
            let mut body = response.into_body();
            while let Some(frame) = body.frame().await {
                let frame = frame.map_err(|error| unreachable(&error))?;
                let mut found = None;
                if let Some(piece) = frame.data_ref() {
                    events.feed(piece, |_, data| {
                        let message = serde_json::from_slice(data).unwrap_or_default();
                        found = found.take().or_else(|| read(message, id));
                    });
                }
                if let Some(answer) = found {
                    return Ok(answer);
                }
            }
            Err(no_answer("before the end of its stream"))
        }
        other => Err(ProbeError::Protocol(format!(
            "it answered with the media type `{other}`"
        ))),
    }
}

/// Takes a message for the answer to this request, if it is.
fn read(mut message: Value, id: u64) -> Option<Answer> {
    if message.get("method").is_some() || message.get("id") != Some(&json!(id)) {
        return None;
    }
    if let Some(error) = message.get("error") {
        return Some(Answer::Error {
            code: error.get("code").and_then(Value::as_i64).unwrap_or_default(),
            message: error
                .get("message")
                .and_then(Value::as_str)
                .unwrap_or("without words")
                .to_owned(),
        });
    }
    message.get_mut("result").map(|result| Answer::Result(result.take()))
}

fn no_answer(place: &str) -> ProbeError {
    ProbeError::Protocol(format!("there is no answer {place}"))
}

async fn refused(response: Response<Incoming>) -> ProbeError {
    let status = response.status();
    if status == StatusCode::UNAUTHORIZED {
        return ProbeError::LoginRequired;
    }
    let body = Limited::new(response.into_body(), LIMIT)
        .collect()
        .await
        .map(|body| body.to_bytes())
        .unwrap_or_default();
    let words: String = String::from_utf8_lossy(&body).trim().chars().take(200).collect();
    ProbeError::Status {
        status: status.as_u16(),
        words,
    }
}

fn unreachable(error: &dyn std::error::Error) -> ProbeError {
    let mut words = error.to_string();
    let mut source = error.source();
    while let Some(error) = source {
        words = format!("{words}: {error}");
        source = error.source();
    }
    ProbeError::Unreachable(words)
}
