//! The bridge in front of real children: a Node script that misbehaves on request, with and without a shell around it.
#![allow(clippy::unwrap_used, clippy::panic)]

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper_util::client::legacy::Client as Http;
use hyper_util::rt::TokioExecutor;
use mcproctor_proto::call::SERVER_EXITED;
use mcproctor_proto::server::StdioServer;
use mcproctor_worker::bridge::{Bridge, BridgeError, BridgeOptions};
use serde_json::{Value, json};

const FIXTURE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/stdio-server.mjs");

fn fixture(args: &[&str]) -> StdioServer {
    let args = [&[FIXTURE], args].concat().into_iter().map(str::to_owned).collect();
    StdioServer {
        command: "node".to_owned(),
        args,
        env: BTreeMap::new(),
        cwd: None,
    }
}

fn quick() -> BridgeOptions {
    BridgeOptions {
        grace: Duration::from_millis(300),
        ..BridgeOptions::default()
    }
}

async fn bridge() -> Bridge {
    Bridge::start(&fixture(&[]), quick()).await.unwrap()
}

/// An HTTP client with a session of its own.
struct Client {
    url: String,
    session: Option<String>,
    http: Http<hyper_util::client::legacy::connect::HttpConnector, Full<Bytes>>,
}

impl Client {
    fn new(bridge: &Bridge) -> Self {
        Self {
            url: bridge.url(),
            session: None,
            http: Http::builder(TokioExecutor::new()).build_http(),
        }
    }

    async fn initialized(bridge: &Bridge) -> Self {
        let mut client = Self::new(bridge);
        let params =
            json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "0"}});
        let response = client
            .send(&json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params}))
            .await;
        client.session = Some(response.headers()["mcp-session-id"].to_str().unwrap().to_owned());
        let answer = Events::of(response).next().await.unwrap();
        assert_eq!(
            (&answer["id"], &answer["result"]["serverInfo"]["name"]),
            (&json!(0), &json!("fixture"))
        );
        let accepted = client
            .send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}))
            .await;
        assert_eq!(accepted.status(), 202);
        client
    }

    fn request(&self, method: &str) -> http::request::Builder {
        let request = Request::builder()
            .method(method)
            .uri(&self.url)
            .header("content-type", "application/json")
            .header("accept", "application/json, text/event-stream");
        match &self.session {
            Some(session) => request.header("mcp-session-id", session),
            None => request,
        }
    }

    async fn run(&self, request: http::request::Builder, body: String) -> Response<Incoming> {
        let sent = self.http.request(request.body(Full::new(Bytes::from(body))).unwrap());
        tokio::time::timeout(Duration::from_secs(20), sent)
            .await
            .unwrap()
            .unwrap()
    }

    async fn send(&self, message: &Value) -> Response<Incoming> {
        self.run(self.request("POST"), message.to_string()).await
    }

    /// Starts a call; its answer comes on the stream.
    async fn start(&self, id: Value, tool: &str, arguments: Value) -> Events {
        let params = json!({"name": tool, "arguments": arguments, "_meta": {"progressToken": "p"}});
        let response = self
            .send(&json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params}))
            .await;
        assert_eq!(response.status(), 200);
        Events::of(response)
    }

    /// Calls a tool and returns the text of its result.
    async fn call(&self, tool: &str, arguments: Value) -> String {
        let mut events = self.start(json!(1), tool, arguments).await;
        let answer = events.next().await.unwrap();
        answer["result"]["content"][0]["text"]
            .as_str()
            .unwrap_or_else(|| panic!("{answer}"))
            .to_owned()
    }
}

/// Messages of an event stream as they come; comments are counted.
struct Events {
    body: Incoming,
    text: String,
    comments: usize,
}

impl Events {
    fn of(response: Response<Incoming>) -> Self {
        assert_eq!(response.headers()["content-type"], "text/event-stream");
        Self {
            body: response.into_body(),
            text: String::new(),
            comments: 0,
        }
    }

    async fn next(&mut self) -> Option<Value> {
        loop {
            if let Some((event, rest)) = self.text.split_once("\n\n") {
                let data = event
                    .split_once("data: ")
                    .map(|(_, data)| serde_json::from_str(data).unwrap());
                self.text = rest.to_owned();
                match data {
                    Some(message) => return Some(message),
                    None => self.comments += 1,
                }
                continue;
            }
            let frame = tokio::time::timeout(Duration::from_secs(20), self.body.frame())
                .await
                .unwrap()?;
            let data = frame.unwrap().into_data().unwrap();
            // A large result comes in many pieces; looking for its end in each would be slow.
            self.text.push_str(std::str::from_utf8(&data).unwrap());
            while !self.text.ends_with("\n\n") {
                let Some(frame) = self.body.frame().await else { break };
                self.text
                    .push_str(std::str::from_utf8(&frame.unwrap().into_data().unwrap()).unwrap());
            }
        }
    }
}

async fn body(response: Response<Incoming>) -> Value {
    serde_json::from_slice(&response.into_body().collect().await.unwrap().to_bytes()).unwrap()
}

#[cfg(target_os = "linux")]
fn alive(pid: &str) -> bool {
    // A zombie has no memory left, and its command line is empty.
    std::fs::read(format!("/proc/{pid}/cmdline")).is_ok_and(|line| !line.is_empty())
}

#[cfg(target_os = "linux")]
async fn gone(pid: &str) -> bool {
    for _ in 0..500 {
        if !alive(pid) {
            return true;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    false
}

#[tokio::test]
async fn clients_one_after_another_share_one_initialized_child() {
    let bridge = bridge().await;
    let first = Client::initialized(&bridge).await;
    let pid = first.call("pid", json!({})).await;
    drop(first);
    let second = Client::initialized(&bridge).await;
    assert_eq!(second.call("pid", json!({})).await, pid);
    let seen: Value = serde_json::from_str(&second.call("seen", json!({})).await).unwrap();
    assert_eq!(
        (&seen["initialize"], &seen["notifications/initialized"]),
        (&json!(1), &json!(1))
    );
}

#[tokio::test]
async fn equal_ids_at_once_are_answered_out_of_order_with_their_own_text() {
    let bridge = bridge().await;
    let (one, other) = (Client::initialized(&bridge).await, Client::initialized(&bridge).await);
    let mut first = one.start(json!(1), "hold", json!({})).await;
    let mut second = other.start(json!(1), "hold", json!({})).await;
    let mut third = one.start(json!("1"), "hold", json!({})).await;
    let mut exact = one.start(json!(9_007_199_254_740_993_u64), "hold", json!({})).await;
    other.call("release", json!({})).await;
    for (events, id) in [
        (&mut first, json!(1)),
        (&mut second, json!(1)),
        (&mut third, json!("1")),
        (&mut exact, json!(9_007_199_254_740_993_u64)),
    ] {
        assert_eq!(events.next().await.unwrap()["id"], id);
        assert!(events.next().await.is_none(), "the stream ends with its answer");
    }
}

#[tokio::test]
async fn progress_and_questions_reach_the_client_whose_call_is_open() {
    let bridge = bridge().await;
    let client = Client::initialized(&bridge).await;
    let mut events = client.start(json!("c"), "progress", json!({})).await;
    assert_eq!(events.next().await.unwrap()["params"]["progressToken"], "p");
    assert_eq!(events.next().await.unwrap()["id"], "c");

    let mut events = client.start(json!("d"), "ask", json!({})).await;
    let question = events.next().await.unwrap();
    assert_eq!(
        (&question["id"], &question["method"]),
        (&json!("q1"), &json!("elicitation/create"))
    );
    let answer = json!({"jsonrpc": "2.0", "id": "q1", "result": {"action": "accept"}});
    assert_eq!(client.send(&answer).await.status(), 202);
    assert_eq!(events.next().await.unwrap()["result"]["content"][0]["text"], "accept");
}

#[tokio::test]
async fn what_the_server_announces_reaches_the_get_stream() {
    let bridge = bridge().await;
    let client = Client::initialized(&bridge).await;
    let mut listening = Events::of(client.run(client.request("GET"), String::new()).await);
    client.call("announce", json!({})).await;
    assert_eq!(
        listening.next().await.unwrap()["method"],
        "notifications/tools/list_changed"
    );
}

#[tokio::test]
async fn clients_that_take_no_events_get_documents_and_batches() {
    let bridge = bridge().await;
    let client = Client::initialized(&bridge).await;
    let plain = |client: &Client| {
        let mut request = client.request("POST");
        request
            .headers_mut()
            .unwrap()
            .insert("accept", "application/json".parse().unwrap());
        request
    };
    let call = |id: u32| json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": {"name": "echo", "arguments": {"value": "v"}}});
    let response = client.run(plain(&client), format!("{:#}", call(7))).await;
    assert_eq!(response.headers()["content-type"], "application/json");
    assert_eq!(body(response).await["id"], 7);
    let response = client.run(plain(&client), json!([call(1), call(2)]).to_string()).await;
    let mut ids: Vec<u64> = body(response)
        .await
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["id"].as_u64().unwrap())
        .collect();
    ids.sort_unstable();
    assert_eq!(ids, [1, 2]);
}

#[tokio::test]
async fn a_result_of_64_mib_comes_through_whole() {
    let bridge = bridge().await;
    let client = Client::initialized(&bridge).await;
    let bytes = 64 * 1024 * 1024;
    assert_eq!(client.call("big", json!({"bytes": bytes})).await.len(), bytes);
}

#[tokio::test]
async fn a_message_beyond_the_limit_fails_the_call_and_not_the_bridge() {
    let options = BridgeOptions {
        message_limit: 100_000,
        ..quick()
    };
    let bridge = Bridge::start(&fixture(&[]), options).await.unwrap();
    let client = Client::initialized(&bridge).await;
    let mut events = client.start(json!(1), "big", json!({"bytes": 200_000})).await;
    assert_eq!(events.next().await.unwrap()["error"]["code"], SERVER_EXITED);
    assert_eq!(client.call("echo", json!({"value": "still here"})).await, "still here");
    let long = client
        .send(&json!({"jsonrpc": "2.0", "id": 1, "method": "x", "params": {"x": "x".repeat(200_000)}}))
        .await;
    assert_eq!(long.status(), 413);
}

#[tokio::test]
async fn lines_that_are_no_messages_go_to_the_log_without_secrets() {
    let mut server = fixture(&[]);
    server.env.insert("TOKEN".to_owned(), "sentinel-4711".to_owned().into());
    let bridge = Bridge::start(&server, quick()).await.unwrap();
    let client = Client::initialized(&bridge).await;
    let mut events = client.start(json!(1), "noise", json!({})).await;
    assert_eq!(events.next().await.unwrap()["result"]["content"][0]["text"], "done");
    let log = bridge.stop().await;
    for line in ["INFO this is no message\n", "[1, 2\n", "the token is [redacted]\n"] {
        assert!(log.contains(line), "{line:?} in {log:?}");
    }
    assert!(!log.contains("sentinel"));
}

#[tokio::test]
async fn the_child_sees_a_minimal_environment() {
    let mut server = fixture(&["--flag"]);
    server.env.insert("OWN".to_owned(), "1".to_owned().into());
    let bridge = Bridge::start(&server, quick()).await.unwrap();
    let client = Client::initialized(&bridge).await;
    let environment: BTreeMap<String, String> =
        serde_json::from_str(&client.call("environment", json!({})).await).unwrap();
    let allowed = ["PATH", "HOME", "LANG", "TMPDIR", "OWN"];
    let others: Vec<_> = environment
        .keys()
        .filter(|name| !allowed.contains(&name.as_str()))
        .collect();
    // macOS adds one to every process.
    assert!(others.iter().all(|name| name.starts_with("__CF")), "{others:?}");
    assert_eq!(environment["OWN"], "1");
}

#[tokio::test]
async fn an_exit_fails_the_open_call_at_once_and_later_ones_with_502() {
    let bridge = bridge().await;
    let client = Client::initialized(&bridge).await;
    let mut held = client.start(json!("h"), "hold", json!({})).await;
    let mut events = client.start(json!("x"), "exit", json!({"code": 3})).await;
    let started = Instant::now();
    for (events, id) in [(&mut events, "x"), (&mut held, "h")] {
        let answer = events.next().await.unwrap();
        assert_eq!(answer["id"], id);
        assert_eq!(
            answer["error"],
            json!({"code": SERVER_EXITED, "message": "server exited with status 3"})
        );
        assert!(events.next().await.is_none());
    }
    assert!(started.elapsed() < Duration::from_secs(5));
    let later = client.send(&json!({"jsonrpc": "2.0", "id": 2, "method": "ping"})).await;
    assert_eq!(later.status(), 502);
    assert_eq!(body(later).await["error"]["message"], "server exited with status 3");
    assert_eq!(bridge.gone().as_deref(), Some("server exited with status 3"));
}

#[tokio::test]
async fn a_program_that_is_no_server_shows_its_words_in_the_log() {
    let server = StdioServer {
        command: "sh".to_owned(),
        args: vec![
            "-c".to_owned(),
            "echo usage: nonsense; echo no config >&2; exit 64".to_owned(),
        ],
        env: BTreeMap::new(),
        cwd: None,
    };
    let bridge = Bridge::start(&server, quick()).await.unwrap();
    let client = Client::new(&bridge);
    let mut statuses = Vec::new();
    for _ in 0..200 {
        let response = client
            .send(&json!({"jsonrpc": "2.0", "id": 0, "method": "initialize"}))
            .await;
        statuses.push(response.status().as_u16());
        if response.status() == 502 {
            break;
        }
    }
    assert_eq!(statuses.last(), Some(&502));
    let log = bridge.stop().await;
    assert!(
        log.contains("usage: nonsense\n") && log.contains("no config\n"),
        "{log}"
    );
    assert!(log.contains("server exited with status 64"), "{log}");
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_stubborn_server_behind_a_shell_is_killed_whole() {
    let server = StdioServer {
        command: "sh".to_owned(),
        args: vec!["-c".to_owned(), format!("node {FIXTURE} --stubborn; true")],
        env: BTreeMap::new(),
        cwd: None,
    };
    for dropped in [false, true] {
        let bridge = Bridge::start(&server, quick()).await.unwrap();
        let client = Client::initialized(&bridge).await;
        let pid = client.call("pid", json!({})).await;
        assert!(alive(&pid));
        if dropped {
            drop(bridge);
            assert!(gone(&pid).await);
        } else {
            bridge.stop().await;
            // SIGKILL has been sent; the system takes a moment to carry it out.
            assert!(gone(&pid).await);
        }
    }
}

#[tokio::test]
async fn deleting_a_session_ends_it_and_not_the_child() {
    let bridge = bridge().await;
    let (leaving, staying) = (Client::initialized(&bridge).await, Client::initialized(&bridge).await);
    let mut listening = Events::of(leaving.run(leaving.request("GET"), String::new()).await);
    assert_eq!(
        leaving.run(leaving.request("DELETE"), String::new()).await.status(),
        200
    );
    assert!(listening.next().await.is_none());
    let ping = json!({"jsonrpc": "2.0", "id": 1, "method": "ping"});
    assert_eq!(leaving.send(&ping).await.status(), 404, "the sign to initialize again");
    assert_eq!(
        leaving.run(leaving.request("DELETE"), String::new()).await.status(),
        404
    );
    assert_eq!(staying.call("echo", json!({"value": "here"})).await, "here");
}

#[tokio::test]
async fn stateless_requests_pass_without_a_session() {
    let bridge = bridge().await;
    let client = Client::new(&bridge);
    let call = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {
        "name": "echo", "arguments": {"value": "v"}, "_meta": {"io.modelcontextprotocol/protocolVersion": "2026-07-28"}}});
    let answer = Events::of(client.send(&call).await).next().await.unwrap();
    assert_eq!(answer["result"]["content"][0]["text"], "v");
    let discover = client
        .send(&json!({"jsonrpc": "2.0", "id": 1, "method": "server/discover"}))
        .await;
    assert_eq!(Events::of(discover).next().await.unwrap()["error"]["code"], -32601);
    let lost = client.send(&json!({"jsonrpc": "2.0", "id": 1, "method": "ping"})).await;
    assert_eq!(lost.status(), 400);
}

#[tokio::test]
async fn leaving_a_stateless_call_cancels_it_at_the_server() {
    let bridge = bridge().await;
    let client = Client::new(&bridge);
    let meta = json!({"io.modelcontextprotocol/protocolVersion": "2026-07-28"});
    let hold = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "hold", "_meta": meta}});
    drop(client.send(&hold).await);
    let watching = Client::initialized(&bridge).await;
    for _ in 0..200 {
        let seen: Value = serde_json::from_str(&watching.call("seen", json!({})).await).unwrap();
        if seen["notifications/cancelled"] == 1 {
            return;
        }
    }
    panic!("the server was not told");
}

#[tokio::test]
async fn a_silent_stream_is_kept_alive_by_comments() {
    let options = BridgeOptions {
        keep_alive: Duration::from_millis(20),
        ..quick()
    };
    let bridge = Bridge::start(&fixture(&[]), options).await.unwrap();
    let client = Client::initialized(&bridge).await;
    let mut events = client.start(json!(1), "hold", json!({})).await;
    let (answer, ()) = tokio::join!(events.next(), async {
        tokio::time::sleep(Duration::from_millis(200)).await;
        client.call("release", json!({})).await;
    });
    assert_eq!(answer.unwrap()["id"], 1);
    assert!(events.comments > 0);
}

#[tokio::test]
async fn only_this_machine_and_only_the_endpoint_is_served() {
    let bridge = bridge().await;
    let client = Client::new(&bridge);
    let rebound = Request::builder()
        .method("POST")
        .uri(bridge.url())
        .header("host", "evil.example");
    assert_eq!(client.run(rebound, "{}".to_owned()).await.status(), 403);
    let origin = client.request("POST").header("origin", "https://evil.example");
    assert_eq!(client.run(origin, "{}".to_owned()).await.status(), 403);
    let elsewhere = Request::builder().uri(bridge.url().replace("/mcp", "/.well-known/oauth-protected-resource"));
    assert_eq!(client.run(elsewhere, String::new()).await.status(), 404);
    assert_eq!(
        client.run(client.request("POST"), "no json".to_owned()).await.status(),
        400
    );
    assert_eq!(client.run(client.request("PUT"), String::new()).await.status(), 405);
}

#[tokio::test]
async fn what_cannot_be_started_is_said_without_its_arguments() {
    let mut server = fixture(&["--token=sentinel"]);
    server.command = "no-such-program-here".to_owned();
    let error = Bridge::start(&server, quick()).await.unwrap_err();
    assert!(matches!(error, BridgeError::Spawn { .. }));
    assert!(!format!("{error} {error:?}").contains("sentinel"));
    let mut server = fixture(&[]);
    server.cwd = Some("/no/such/folder".into());
    assert!(matches!(
        Bridge::start(&server, quick()).await.unwrap_err(),
        BridgeError::WorkingFolder(_)
    ));
}
