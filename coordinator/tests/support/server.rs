//! An MCP server over Streamable HTTP with a mind of the test's.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::{Request, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::Response;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio_util::task::AbortOnDropHandle;

/// The largest request body read, in bytes.
const MAX_BODY: usize = 1 << 20;

/// One request of a client.
pub struct Asked {
    /// The JSON-RPC method.
    pub method: String,
    /// Its parameters.
    pub params: Value,
    /// The HTTP headers.
    pub headers: HeaderMap,
    /// The query of the address.
    pub query: String,
}

/// What is answered.
pub enum Answer {
    /// What a server with the tool `look_up` answers; calls get an empty result.
    Usual,
    /// A JSON-RPC result.
    Result(Value),
    /// A result with this text.
    Text(String),
    /// A JSON-RPC error: its code and its message.
    Error(i32, String),
    /// An HTTP status and nothing else.
    Status(u16),
    /// A body that is no JSON.
    Nonsense,
    /// Nothing, ever.
    Silence,
}

/// A running server. Dropping it ends it.
pub struct FakeServer {
    url: String,
    _task: AbortOnDropHandle<std::io::Result<()>>,
}

/// A server that is well when a run asks it for its tools first, and answers everything after that as `then` says.
pub fn well_at_first(then: impl Fn() -> Answer + Send + Sync + 'static) -> impl Fn(&Asked) -> Answer + Send + Sync {
    let listed = AtomicBool::new(false);
    move |asked| match asked.method.as_str() {
        _ if listed.load(Ordering::SeqCst) => then(),
        "tools/list" => {
            listed.store(true, Ordering::SeqCst);
            Answer::Usual
        }
        _ => Answer::Usual,
    }
}

type Mind = Arc<dyn Fn(&Asked) -> Answer + Send + Sync>;

impl FakeServer {
    pub(super) async fn start(answer: impl Fn(&Asked) -> Answer + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/mcp", listener.local_addr().unwrap());
        let mind: Mind = Arc::new(answer);
        let router = Router::new().fallback(respond).with_state(mind);
        let task = tokio::spawn(axum::serve(listener, router).into_future());
        Self {
            url,
            _task: AbortOnDropHandle::new(task),
        }
    }

    /// Its endpoint.
    pub fn url(&self) -> &str {
        &self.url
    }
}

async fn respond(State(mind): State<Mind>, request: Request) -> Response {
    let (parts, body) = request.into_parts();
    let bytes = to_bytes(body, MAX_BODY).await.unwrap_or_default();
    let Ok(message) = serde_json::from_slice::<Value>(&bytes) else {
        // GET for a stream, DELETE of a session.
        return empty(StatusCode::METHOD_NOT_ALLOWED.as_u16());
    };
    let asked = Asked {
        method: message["method"].as_str().unwrap_or_default().to_owned(),
        params: message["params"].clone(),
        headers: parts.headers,
        query: parts.uri.query().unwrap_or_default().to_owned(),
    };
    let answer = mind(&asked);
    let result = match answer {
        Answer::Usual => usual(&asked),
        Answer::Result(result) => result,
        Answer::Text(text) => json!({ "content": [{ "type": "text", "text": text }] }),
        Answer::Error(code, text) => {
            let error = json!({ "code": code, "message": text });
            return json_body(json!({ "jsonrpc": "2.0", "id": message["id"], "error": error }).to_string());
        }
        Answer::Status(status) => return empty(status),
        Answer::Nonsense => return json_body("{\"jsonrpc\": \"2.0\", \"resu".to_owned()),
        Answer::Silence => std::future::pending().await,
    };
    match message.get("id") {
        Some(id) => json_body(json!({ "jsonrpc": "2.0", "id": id, "result": result }).to_string()),
        None => empty(StatusCode::ACCEPTED.as_u16()),
    }
}

fn usual(asked: &Asked) -> Value {
    match asked.method.as_str() {
        "initialize" => json!({
            "protocolVersion": asked.params["protocolVersion"],
            "capabilities": { "tools": {} },
            "serverInfo": { "name": "fake", "version": "1" },
        }),
        "tools/list" => json!({ "tools": [{
            "name": "look_up",
            "description": "Looks something up.",
            "inputSchema": { "type": "object", "properties": { "what": { "type": "string" } } },
        }] }),
        "tools/call" => json!({ "content": [] }),
        _ => json!({}),
    }
}

fn empty(status: u16) -> Response {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::from_u16(status).unwrap();
    response
}

fn json_body(text: String) -> Response {
    let mut response = Response::new(Body::from(text));
    response
        .headers_mut()
        .insert(header::CONTENT_TYPE, "application/json".parse().unwrap());
    response
}
