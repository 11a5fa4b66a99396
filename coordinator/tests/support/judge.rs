//! A judge's endpoint with a mind of the test's.

use std::convert::Infallible;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::Router;
use axum::body::{Body, Bytes, to_bytes};
use axum::extract::{Request, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::Response;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio_util::task::AbortOnDropHandle;

/// The largest request body read, in bytes.
const MAX_BODY: usize = 8 << 20;

/// One question.
#[derive(Clone, Debug)]
pub struct Question {
    /// The body of the request.
    pub body: Value,
    /// The body as it was sent.
    pub text: String,
    /// The HTTP headers.
    pub headers: HeaderMap,
    /// The path and query.
    pub uri: String,
}

impl Question {
    /// The message at this place.
    pub fn message(&self, index: usize) -> &str {
        self.body["messages"][index]["content"].as_str().unwrap()
    }

    /// How many messages there are.
    pub fn messages(&self) -> usize {
        self.body["messages"].as_array().unwrap().len()
    }
}

/// What is answered.
pub enum Verdict {
    /// A completion with this text.
    Says(String),
    /// A completion with this choice.
    Choice(Value),
    /// An HTTP status with headers and a body.
    Status(u16, Vec<(&'static str, String)>, String),
    /// Nothing, ever.
    Silence,
    /// Half of a body, and then the end of the connection.
    Half,
}

impl Verdict {
    /// What a judge should say.
    pub fn of(verdict: &str, reasoning: &str) -> Self {
        Self::Says(json!({ "verdict": verdict, "reasoning": reasoning }).to_string())
    }
}

type Mind = Arc<dyn Fn(&Question) -> Verdict + Send + Sync>;

/// A running judge. Dropping it ends it.
#[must_use = "dropping it ends it"]
pub struct FakeJudge {
    address: String,
    asked: Arc<Mutex<Vec<Question>>>,
    _task: AbortOnDropHandle<std::io::Result<()>>,
}

#[derive(Clone)]
struct Shared {
    mind: Mind,
    asked: Arc<Mutex<Vec<Question>>>,
}

impl FakeJudge {
    /// Answers as `mind` says.
    pub async fn start(mind: impl Fn(&Question) -> Verdict + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let asked = Arc::new(Mutex::new(Vec::new()));
        let shared = Shared {
            mind: Arc::new(mind),
            asked: Arc::clone(&asked),
        };
        let router = Router::new().fallback(respond).with_state(shared);
        let task = tokio::spawn(axum::serve(listener, router).into_future());
        Self {
            address,
            asked,
            _task: AbortOnDropHandle::new(task),
        }
    }

    /// Its base URL.
    pub fn url(&self) -> String {
        format!("{}/v1", self.address)
    }

    /// What it was asked so far.
    pub fn asked(&self) -> Vec<Question> {
        self.asked.lock().unwrap().clone()
    }
}

async fn respond(State(shared): State<Shared>, request: Request) -> Response {
    let (parts, body) = request.into_parts();
    let bytes = to_bytes(body, MAX_BODY).await.unwrap();
    let question = Question {
        body: serde_json::from_slice(&bytes).unwrap(),
        text: String::from_utf8(bytes.to_vec()).unwrap(),
        headers: parts.headers,
        uri: parts.uri.to_string(),
    };
    shared.asked.lock().unwrap().push(question.clone());
    // A mind may wait for the test.
    let verdict = tokio::task::spawn_blocking(move || (shared.mind)(&question))
        .await
        .unwrap();
    let choice = match verdict {
        Verdict::Says(text) => json!({ "finish_reason": "stop", "message": { "role": "assistant", "content": text } }),
        Verdict::Choice(choice) => choice,
        Verdict::Status(status, headers, body) => {
            let mut response = Response::builder().status(StatusCode::from_u16(status).unwrap());
            for (name, value) in headers {
                response = response.header(name, value);
            }
            return response.body(Body::from(body)).unwrap();
        }
        Verdict::Silence => std::future::pending().await,
        Verdict::Half => {
            let half = async {
                tokio::time::sleep(Duration::from_millis(5)).await;
                Ok::<_, Infallible>(Bytes::from("{\"choices\": [{\"message\": {\"cont"))
            };
            let body = Body::from_stream(futures_util::stream::once(half));
            return Response::builder()
                .header(header::CONTENT_LENGTH, "100000")
                .body(body)
                .unwrap();
        }
    };
    let body = json!({
        "model": "judge-1-2026",
        "choices": [choice],
        "usage": { "prompt_tokens": 1000, "completion_tokens": 50, "cost": 0.002 },
    });
    Response::builder()
        .header(header::CONTENT_TYPE, "application/json")
        .body(Body::from(body.to_string()))
        .unwrap()
}
