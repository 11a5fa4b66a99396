#![allow(clippy::unwrap_used, clippy::panic)]
//! The probe in front of small servers on real sockets.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use tokio::net::TcpListener;

use super::{ProbeError, probe};

const TIMEOUT: Duration = Duration::from_secs(10);

/// A status, a media type and a body.
type Reply = (u16, &'static str, String);

/// A server whose answers are made by a function of the request's method, headers and message.
async fn server(answer: impl Fn(&str, &http::HeaderMap, &Value) -> Reply + Send + Sync + 'static) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    let answer = Arc::new(answer);
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let answer = Arc::clone(&answer);
            tokio::spawn(http1::Builder::new().serve_connection(
                TokioIo::new(stream),
                service_fn(move |request: Request<Incoming>| {
                    let answer = Arc::clone(&answer);
                    async move {
                        let (head, body) = request.into_parts();
                        let body = body.collect().await.unwrap().to_bytes();
                        let message: Value = serde_json::from_slice(&body).unwrap_or_default();
                        let (status, media_type, body) = answer(head.method.as_str(), &head.headers, &message);
                        let response = Response::builder()
                            .status(status)
                            .header("content-type", media_type)
                            .header("mcp-session-id", "s-1")
                            .body(Full::new(Bytes::from(body)));
                        Ok::<_, Infallible>(response.unwrap())
                    }
                }),
            ));
        }
    });
    url
}

fn document(message: &Value, result: Value) -> Reply {
    (
        200,
        "application/json; charset=utf-8",
        json!({"jsonrpc": "2.0", "id": message["id"], "result": result}).to_string(),
    )
}

fn error(message: &Value, code: i64) -> Reply {
    let error = json!({"code": code, "message": "no such method"});
    (
        200,
        "application/json",
        json!({"jsonrpc": "2.0", "id": message["id"], "error": error}).to_string(),
    )
}

fn initialized(message: &Value, version: &str) -> Value {
    assert_eq!(message["params"]["protocolVersion"], "2025-11-25");
    json!({"protocolVersion": version, "capabilities": {"tools": {}}, "instructions": "be kind",
           "serverInfo": {"name": "weather", "version": "2.1"}})
}

#[tokio::test]
async fn an_old_server_with_pages_and_broken_schemas_is_read_as_it_is() {
    let url = server(|method, headers, message| {
        let first = json!({"tools": [{"name": "a", "title": "A", "description": "d", "inputSchema": {"type": "object"},
                                      "outputSchema": {}, "annotations": {"readOnlyHint": true}}], "nextCursor": "2"});
        let second = json!({"tools": [{"name": "b", "inputSchema": "nonsense"}, {"name": "c"}]});
        match (method, message["method"].as_str(), message["params"]["cursor"].as_str()) {
            ("POST", Some("initialize"), _) => document(message, initialized(message, "2025-03-26")),
            _ if headers["mcp-session-id"] != "s-1" || headers["mcp-protocol-version"] != "2025-03-26" => {
                (400, "text/plain", "no session".to_owned())
            }
            ("POST", Some("notifications/initialized"), _) => (202, "text/plain", String::new()),
            ("POST", Some("tools/list"), None) => document(message, first),
            ("POST", Some("tools/list"), Some("2")) => document(message, second),
            ("DELETE", ..) => (405, "text/plain", String::new()),
            other => panic!("{other:?}"),
        }
    })
    .await;
    let probe = probe(&url, TIMEOUT).await.unwrap();
    assert_eq!(
        (probe.server_name.as_str(), probe.server_version.as_str()),
        ("weather", "2.1")
    );
    assert_eq!(probe.protocol_version, "2025-03-26");
    assert_eq!(probe.instructions.as_deref(), Some("be kind"));
    let names: Vec<&str> = probe.tools.iter().map(|tool| tool.name.as_str()).collect();
    assert_eq!(names, ["a", "b", "c"]);
    assert_eq!(probe.tools[0].annotations, Some(json!({"readOnlyHint": true})));
    assert_eq!(
        (&probe.tools[1].input_schema, &probe.tools[2].input_schema),
        (&json!("nonsense"), &Value::Null)
    );
}

#[tokio::test]
async fn an_event_stream_with_other_messages_first_is_read_to_the_answer() {
    let url = server(|_, _, message| {
        let result = match message["method"].as_str() {
            Some("initialize") => initialized(message, "2025-11-25"),
            Some("tools/list") => json!({"tools": [{"name": "ü", "inputSchema": {}}]}),
            _ => return (202, "text/plain", String::new()),
        };
        let answer = json!({"jsonrpc": "2.0", "id": message["id"], "result": result});
        let ping = json!({"jsonrpc": "2.0", "id": message["id"], "method": "ping"});
        (
            200,
            "text/event-stream",
            format!("id: 1\ndata:\n\n: hello\r\n\r\ndata: {ping}\n\nevent: message\ndata: {answer}\n\n"),
        )
    })
    .await;
    assert_eq!(probe(&url, TIMEOUT).await.unwrap().tools[0].name, "ü");
}

#[tokio::test]
async fn a_stateless_server_is_asked_in_its_own_form() {
    let url = server(|_, headers, message| match message["method"].as_str() {
        Some("initialize") => error(message, -32601),
        Some(method) => {
            assert_eq!(headers["mcp-method"], *method);
            assert_eq!(headers["mcp-protocol-version"], "2026-07-28");
            assert_eq!(
                message["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"],
                "2026-07-28"
            );
            document(
                message,
                match method {
                    "server/discover" => {
                        json!({"serverInfo": {"name": "new", "version": "3"}, "supportedVersions": ["2026-07-28"]})
                    }
                    _ => json!({"tools": [{"name": "t", "inputSchema": {}}], "resultType": "complete"}),
                },
            )
        }
        None => panic!("{message}"),
    })
    .await;
    let probe = probe(&url, TIMEOUT).await.unwrap();
    assert_eq!(
        (probe.server_name.as_str(), probe.protocol_version.as_str()),
        ("new", "2026-07-28")
    );
    assert_eq!(probe.tools.len(), 1);
}

#[tokio::test]
async fn faults_are_told_apart() {
    let url = server(|_, _, _| (401, "text/plain", String::new())).await;
    assert!(matches!(probe(&url, TIMEOUT).await, Err(ProbeError::LoginRequired)));

    let url = server(|_, _, _| (502, "text/plain", "bad gateway".to_owned())).await;
    assert!(
        matches!(probe(&url, TIMEOUT).await, Err(ProbeError::Status { status: 502, words }) if words == "bad gateway")
    );

    let url = server(|_, _, _| (404, "text/plain", "not here".to_owned())).await;
    assert!(matches!(
        probe(&url, TIMEOUT).await,
        Err(ProbeError::Status { status: 404, .. })
    ));

    let url = server(|_, _, message| error(message, -32602)).await;
    let refused = probe(&url, TIMEOUT).await;
    assert!(
        matches!(
            refused,
            Err(ProbeError::Refused {
                method: "initialize",
                code: -32602,
                ..
            })
        ),
        "{refused:?}"
    );

    let url = server(|_, _, _| (200, "text/html", "<html>".to_owned())).await;
    assert!(matches!(probe(&url, TIMEOUT).await, Err(ProbeError::Protocol(_))));

    let url = server(|_, _, _| (200, "application/json", "{".to_owned())).await;
    assert!(matches!(probe(&url, TIMEOUT).await, Err(ProbeError::Protocol(_))));

    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    let silent = probe(&url, Duration::from_millis(50)).await;
    assert!(matches!(silent, Err(ProbeError::TimedOut(_))), "{silent:?}");
    drop(listener);
    assert!(matches!(probe(&url, TIMEOUT).await, Err(ProbeError::Unreachable(_))));
    assert!(matches!(
        probe("https://localhost/mcp", TIMEOUT).await,
        Err(ProbeError::Address(_))
    ));
}

#[tokio::test]
async fn a_list_without_end_and_a_server_without_tools_are_known() {
    let circle = server(|_, _, message| match message["method"].as_str() {
        Some("initialize") => document(message, initialized(message, "2025-06-18")),
        Some("tools/list") => document(message, json!({"tools": [], "nextCursor": "again"})),
        _ => (202, "text/plain", String::new()),
    })
    .await;
    assert!(matches!(probe(&circle, TIMEOUT).await, Err(ProbeError::Protocol(_))));
    let none = server(|_, _, message| match message["method"].as_str() {
        Some("initialize") => document(message, initialized(message, "2025-06-18")),
        Some("tools/list") => error(message, -32601),
        _ => (202, "text/plain", String::new()),
    })
    .await;
    assert!(probe(&none, TIMEOUT).await.unwrap().tools.is_empty());
}
