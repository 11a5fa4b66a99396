//! A client of one MCP server over Streamable HTTP (specification 2025-11-25, "Transports").

use std::sync::atomic::{AtomicU64, Ordering};

use http::{HeaderMap, HeaderName, HeaderValue, Method, header};
use serde_json::{Value, json};
use thiserror::Error;

use super::http::{Http, HttpError, Reply};
use crate::agent::escape::shorten;

/// The newest revision that this client speaks.
const REVISION: &str = "2025-11-25";

/// Pages of a tool list that are read; a server that goes on beyond it goes on for ever.
const MAX_PAGES: usize = 1_000;

const SESSION: HeaderName = HeaderName::from_static("mcp-session-id");
const PROTOCOL: HeaderName = HeaderName::from_static("mcp-protocol-version");

/// Why a server could not be used.
#[derive(Debug, Error)]
pub(super) enum McpError {
    #[error(transparent)]
    Http(#[from] HttpError),
    #[error("`{method}` was answered with status {status}: {message}")]
    Status {
        method: String,
        status: u16,
        message: String,
    },
    #[error("`{method}` failed with error {code}: {message}")]
    Rpc { method: String, code: i64, message: String },
    #[error("the reply to `{method}` cannot be read: {reason}")]
    Unreadable { method: String, reason: String },
}

/// A session with one server.
#[derive(Debug)]
pub(super) struct Mcp {
    http: Http,
    url: String,
    session: Option<HeaderValue>,
    revision: Option<HeaderValue>,
    next_id: AtomicU64,
}

impl Mcp {
    pub(super) async fn connect(url: &str) -> Result<Self, McpError> {
        let mut mcp = Self {
            http: Http::new(),
            url: url.to_owned(),
            session: None,
            revision: None,
            next_id: AtomicU64::new(1),
        };
        let params = json!({
            "protocolVersion": REVISION,
            "capabilities": {},
            "clientInfo": { "name": "mcproctor-minimal-agent", "version": env!("CARGO_PKG_VERSION") },
        });
        let (result, headers) = mcp.exchange("initialize", params).await?;
        mcp.session = headers.get(SESSION).cloned();
        let agreed = result
            .get("protocolVersion")
            .and_then(Value::as_str)
            .unwrap_or(REVISION);
        mcp.revision = HeaderValue::from_str(agreed).ok();
        mcp.notify("notifications/initialized").await?;
        Ok(mcp)
    }

    /// Every tool, over all pages.
    pub(super) async fn tools(&self) -> Result<Vec<Value>, McpError> {
        let mut tools = Vec::new();
        let mut cursor: Option<Value> = None;
        for _ in 0..MAX_PAGES {
            let params = cursor.map_or_else(|| json!({}), |cursor| json!({ "cursor": cursor }));
            let (mut result, _) = self.exchange("tools/list", params).await?;
            if let Some(Value::Array(page)) = result.get_mut("tools").map(Value::take) {
                tools.extend(page);
            }
            cursor = result
                .get_mut("nextCursor")
                .map(Value::take)
                .filter(|cursor| !cursor.is_null());
            if cursor.is_none() {
                return Ok(tools);
            }
        }
        let reason = format!("the list has more than {MAX_PAGES} pages");
        Err(McpError::Unreadable {
            method: "tools/list".to_owned(),
            reason,
        })
    }

    /// The result of a call.
    pub(super) async fn call(&self, tool: &str, arguments: &Value) -> Result<Value, McpError> {
        let (result, _) = self
            .exchange("tools/call", json!({ "name": tool, "arguments": arguments }))
            .await?;
        Ok(result)
    }

    /// Ends the session; a server may not support that.
    pub(super) async fn close(&self) {
        if self.session.is_some() {
            let _ = self
                .http
                .send(Method::DELETE, &self.url, self.headers(), Vec::new())
                .await;
        }
    }

    async fn notify(&self, method: &str) -> Result<(), McpError> {
        let body = json!({ "jsonrpc": "2.0", "method": method }).to_string().into_bytes();
        let reply = self.http.send(Method::POST, &self.url, self.headers(), body).await?;
        if reply.status.is_success() {
            Ok(())
        } else {
            Err(status_error(method, reply).await)
        }
    }

    async fn exchange(&self, method: &str, params: Value) -> Result<(Value, HeaderMap), McpError> {
        let id = self.next_id.fetch_add(1, Ordering::Relaxed);
        let request = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        let body = request.to_string().into_bytes();
        let reply = self.http.send(Method::POST, &self.url, self.headers(), body).await?;
        if !reply.status.is_success() {
            return Err(status_error(method, reply).await);
        }
        let headers = reply.headers.clone();
        let mut message = response(method, reply, id).await?;
        if let Some(error) = message.get("error") {
            return Err(McpError::Rpc {
                method: method.to_owned(),
                code: error.get("code").and_then(Value::as_i64).unwrap_or_default(),
                message: shorten(error.get("message").and_then(Value::as_str).unwrap_or_default(), 1_000),
            });
        }
        Ok((message.get_mut("result").map(Value::take).unwrap_or_default(), headers))
    }

    fn headers(&self) -> HeaderMap {
        let mut headers = HeaderMap::new();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
        headers.insert(
            header::ACCEPT,
            HeaderValue::from_static("application/json, text/event-stream"),
        );
        headers.extend(self.session.clone().map(|session| (SESSION, session)));
        headers.extend(self.revision.clone().map(|revision| (PROTOCOL, revision)));
        headers
    }
}

async fn status_error(method: &str, reply: Reply) -> McpError {
    let status = reply.status.as_u16();
    let body = reply.bytes().await.unwrap_or_default();
    McpError::Status {
        method: method.to_owned(),
        status,
        message: shorten(&String::from_utf8_lossy(&body), 300),
    }
}

/// The response with this id: the body itself, or an event of it.
async fn response(method: &str, mut reply: Reply, id: u64) -> Result<Value, McpError> {
    let unreadable = |reason: String| McpError::Unreadable {
        method: method.to_owned(),
        reason,
    };
    if !reply.is_event_stream() {
        let bytes = reply.bytes().await?;
        return serde_json::from_slice(&bytes).map_err(|error| unreadable(error.to_string()));
    }
    let mut events = Events::default();
    while let Some(chunk) = reply.chunk().await? {
        for data in events.take(&chunk) {
            // The server's own requests and notifications may come before it on the same stream.
            let message: Value = serde_json::from_slice(&data).map_err(|error| unreadable(error.to_string()))?;
            if message.get("method").is_none() && message.get("id").and_then(Value::as_u64) == Some(id) {
                return Ok(message);
            }
        }
    }
    Err(unreadable("the stream ended without a response".to_owned()))
}

/// Takes a stream of server-sent events apart (WHATWG HTML, section 9.2.6): data of whole events only.
#[derive(Default)]
struct Events {
    line: Vec<u8>,
    data: Vec<u8>,
    after_return: bool,
}

impl Events {
    fn take(&mut self, chunk: &[u8]) -> Vec<Vec<u8>> {
        let mut events = Vec::new();
        for &byte in chunk {
            let line_feed_of_pair = byte == b'\n' && self.after_return;
            self.after_return = byte == b'\r';
            match byte {
                _ if line_feed_of_pair => {}
                b'\n' | b'\r' => events.extend(self.end_line()),
                other => self.line.push(other),
            }
        }
        events
    }

    fn end_line(&mut self) -> Option<Vec<u8>> {
        let line = std::mem::take(&mut self.line);
        if line.is_empty() {
            let mut data = std::mem::take(&mut self.data);
            data.pop();
            return Some(data).filter(|data| !data.is_empty());
        }
        if let Some(value) = line.strip_prefix(b"data:") {
            self.data.extend_from_slice(value.strip_prefix(b" ").unwrap_or(value));
            self.data.push(b'\n');
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::Events;

    #[test]
    fn events_come_whole_however_they_are_cut_and_ended() {
        let stream =
            "event: message\r\ndata: {\"a\":\r\ndata:\"ü\"}\r\n\r\n: ping\n\ndata: 2\r\rid: 7\ndata:\n\ndata: lost";
        let mut events = Events::default();
        let got: Vec<_> = stream
            .as_bytes()
            .iter()
            .flat_map(|byte| events.take(&[*byte]))
            .collect();
        assert_eq!(got, ["{\"a\":\n\"ü\"}".as_bytes(), b"2"]);
    }
}
