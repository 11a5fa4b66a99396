//! The server as a client meets it: real sockets, a session, calls that succeed and calls that do not.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a failed step is a failed test"
)]

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper_util::client::legacy::{Client, connect::HttpConnector};
use hyper_util::rt::TokioExecutor;
use serde_json::{Value, json};
use tokio::sync::oneshot;

struct Session {
    client: Client<HttpConnector, Full<Bytes>>,
    url: String,
    id: Option<String>,
}

impl Session {
    async fn open(url: String) -> Self {
        let client = Client::builder(TokioExecutor::new()).build_http();
        let mut session = Self { client, url, id: None };
        let initialize = session
            .send(json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
                "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}}))
            .await;
        assert_eq!(initialize["result"]["serverInfo"]["name"], "weather-server");
        assert!(session.id.is_some(), "the server keeps sessions");
        session
            .send(json!({"jsonrpc": "2.0", "method": "notifications/initialized"}))
            .await;
        session
    }

    async fn send(&mut self, message: Value) -> Value {
        let mut request = axum::http::Request::post(&self.url)
            .header("content-type", "application/json")
            .header("accept", "application/json, text/event-stream");
        if let Some(id) = &self.id {
            request = request.header("mcp-session-id", id);
        }
        let request = request.body(Full::from(message.to_string())).unwrap();
        let response = self.client.request(request).await.unwrap();
        if let Some(id) = response.headers().get("mcp-session-id") {
            self.id = Some(id.to_str().unwrap().to_owned());
        }
        let body = response.into_body().collect().await.unwrap().to_bytes();
        let text = std::str::from_utf8(&body).unwrap();
        text.lines()
            .filter_map(|line| line.strip_prefix("data:"))
            .find_map(|data| serde_json::from_str(data.trim()).ok())
            .unwrap_or(Value::Null)
    }

    async fn call(&mut self, name: &str, arguments: Value) -> Value {
        let params = json!({"name": name, "arguments": arguments});
        self.send(json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}))
            .await["result"]
            .take()
    }
}

#[tokio::test]
async fn a_foreign_host_name_is_refused_on_loopback_and_accepted_elsewhere() {
    for (address, expected) in [("127.0.0.1:0", 403), ("0.0.0.0:0", 200)] {
        let listener = tokio::net::TcpListener::bind(address).await.unwrap();
        let url = format!(
            "http://127.0.0.1:{}{}",
            listener.local_addr().unwrap().port(),
            weather_server::MCP_PATH
        );
        tokio::spawn(weather_server::serve(listener, std::future::pending()));
        let initialize = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
            "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}});
        let request = axum::http::Request::post(url)
            .header("host", "weather:3210")
            .header("content-type", "application/json")
            .header("accept", "application/json, text/event-stream")
            .body(Full::<Bytes>::from(initialize.to_string()));
        let client = Client::builder(TokioExecutor::new()).build_http();
        assert_eq!(
            client.request(request.unwrap()).await.unwrap().status(),
            expected,
            "{address}"
        );
    }
}

async fn start() -> (
    String,
    oneshot::Sender<()>,
    tokio::task::JoinHandle<std::io::Result<()>>,
) {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}{}", listener.local_addr().unwrap(), weather_server::MCP_PATH);
    let (stop, stopped) = oneshot::channel::<()>();
    let task = tokio::spawn(weather_server::serve(listener, async {
        let _ = stopped.await;
    }));
    (url, stop, task)
}

#[tokio::test]
async fn the_three_tools_are_listed_as_read_only_with_an_output_schema() {
    let (url, _stop, _task) = start().await;
    let mut session = Session::open(url).await;
    let tools = session
        .send(json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"}))
        .await["result"]["tools"]
        .take();
    let tools = tools.as_array().unwrap();
    let names: Vec<_> = tools.iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["get_current_weather", "get_forecast", "list_cities"]);
    for tool in tools {
        assert_eq!(tool["annotations"]["readOnlyHint"], true, "{tool}");
        assert_eq!(tool["outputSchema"]["type"], "object", "{tool}");
    }
}

#[tokio::test]
async fn a_known_city_is_answered_with_structure_and_the_same_as_text() {
    let (url, _stop, _task) = start().await;
    let mut session = Session::open(url).await;
    let result = session.call("get_current_weather", json!({"city": "vienna"})).await;
    let expected = json!({"city": "Vienna", "temperatureCelsius": 24, "condition": "sunny"});
    assert_eq!(result["structuredContent"], expected);
    let text = result["content"][0]["text"].as_str().unwrap();
    assert_eq!(serde_json::from_str::<Value>(text).unwrap(), expected);
    let forecast = session.call("get_forecast", json!({"city": "Graz"})).await;
    assert_eq!(forecast["structuredContent"]["days"].as_array().unwrap().len(), 3);
}

#[tokio::test]
async fn an_unknown_city_is_an_error_result_that_names_the_known_ones() {
    let (url, _stop, _task) = start().await;
    let mut session = Session::open(url).await;
    let result = session.call("get_current_weather", json!({"city": "Atlantis"})).await;
    assert_eq!(result["isError"], true);
    let text = result["content"][0]["text"].as_str().unwrap();
    assert!(text.contains("Atlantis") && text.contains("Innsbruck"), "{text}");
    let result = session.call("get_forecast", json!({"city": "Vienna", "days": 8})).await;
    assert_eq!(result["isError"], true);
}

#[tokio::test]
async fn shutdown_ends_open_sessions() {
    let (url, stop, task) = start().await;
    let _session = Session::open(url).await;
    stop.send(()).unwrap();
    tokio::time::timeout(std::time::Duration::from_secs(10), task)
        .await
        .unwrap()
        .unwrap()
        .unwrap();
}
