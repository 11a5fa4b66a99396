//! What passes between an agent and an API, and what does not.

use std::io::Write as _;
use std::sync::Arc;
use std::time::Duration;

use mcproctor_proto::agent::Credential;
use mcproctor_proto::allowance::Allowance;
use mcproctor_proto::traffic::RefusalKind;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use super::super::{Dialect, Meant, Relay, RelayOptions};
use super::{KEY, connect, exchange, post, read_to_end, read_until, relay, reply, settled, upstream};

#[tokio::test]
async fn the_real_key_goes_out_and_the_dummy_does_not() {
    let (listener, url) = upstream().await;
    let relay = relay(Dialect::OpenAi, &format!("{url}/api/v1")).await;
    let ok = reply("200 OK", "content-type: application/json\r\n", br#"{"model":"gpt-x"}"#);
    let (request, answer) = exchange(&relay, &listener, "/v1/responses?x=1", &ok).await;
    assert!(
        request.starts_with("POST /api/v1/responses?x=1 HTTP/1.1\r\n"),
        "{request}"
    );
    let lines: Vec<String> = request.lines().map(str::to_ascii_lowercase).collect();
    for line in [
        format!("authorization: bearer {KEY}"),
        "accept-encoding: gzip, br".to_owned(),
        "anthropic-version: 2023-06-01".to_owned(),
        format!("host: {}", url.trim_start_matches("http://")),
    ] {
        assert!(lines.contains(&line), "{line} in {lines:?}");
    }
    assert!(!request.contains("dummy"), "{request}");
    assert!(answer.ends_with(br#"{"model":"gpt-x"}"#));
    let traffic = relay.stop().await;
    assert_eq!((traffic.observed, traffic.requests, traffic.succeeded), (true, 1, 1));
    assert_eq!(traffic.response_model.as_deref(), Some("gpt-x"));
}

#[tokio::test]
async fn what_another_server_would_read_as_another_request_never_leaves() {
    let (listener, url) = upstream().await;
    let relay = relay(Dialect::OpenAi, &url).await;
    for path in [
        "/v1/models/..\\..\\files",
        "/v1/models/x;y/files",
        "/v1/models/%2e%2e/files",
        "/v1/models?_method=DELETE",
        "//v1/models",
        "/v1/models/../../admin",
        "http://evil.example/v1/models/..",
    ] {
        let mut agent = connect(&relay).await;
        let request = post(path, "").replace("POST", "GET");
        agent.write_all(request.as_bytes()).await.unwrap();
        let answer = read_to_end(&mut agent).await;
        assert!(!answer.starts_with(b"HTTP/1.1 2"), "{path}");
    }
    let connected = tokio::time::timeout(Duration::from_millis(50), listener.accept()).await;
    assert!(connected.is_err(), "the API was asked");
}

#[tokio::test]
async fn no_upgrade_to_a_websocket_is_asked_for_or_made() {
    let (listener, url) = upstream().await;
    let relay = relay(Dialect::OpenAi, &url).await;
    let upgrade = "connection: Upgrade\r\nupgrade: websocket\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\nsec-websocket-version: 13\r\n";
    let mut agent = connect(&relay).await;
    let request = post("/v1/responses", "").replace("POST", "GET");
    agent
        .write_all(request.replace("connection: close\r\n", upgrade).as_bytes())
        .await
        .unwrap();
    assert!(read_until(&mut agent, "\r\n\r\n").await.starts_with("HTTP/1.1 404"));
    // Where it is a request like any other, it stays one; an API that changes the protocol all the same is none.
    let mut agent = connect(&relay).await;
    let request = post("/v1/responses", "{}").replace("connection: close\r\n", upgrade);
    agent.write_all(request.as_bytes()).await.unwrap();
    let (mut api, _) = listener.accept().await.unwrap();
    let seen = read_until(&mut api, "{}").await.to_ascii_lowercase();
    assert!(!seen.contains("upgrade") && !seen.contains("websocket"), "{seen}");
    let switched = b"HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n";
    api.write_all(switched).await.unwrap();
    assert!(read_until(&mut agent, "\r\n\r\n").await.starts_with("HTTP/1.1 502"));
    assert_eq!(settled(&relay).await.succeeded, 0);
}

#[tokio::test]
async fn every_event_reaches_the_agent_before_the_next_is_written() {
    let (listener, url) = upstream().await;
    let relay = relay(Dialect::Anthropic, &url).await;
    let mut agent = connect(&relay).await;
    agent
        .write_all(post("/v1/messages?beta=true", "{}").as_bytes())
        .await
        .unwrap();
    let (mut api, _) = listener.accept().await.unwrap();
    read_until(&mut api, "{}").await;
    api.write_all(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n")
        .await
        .unwrap();
    read_until(&mut agent, "text/event-stream").await;
    for event in [
        "message_start\ndata: {\"message\":{\"model\":\"claude-x\"}}\n\n",
        "ping\ndata: {}\n\n",
        "message_stop\ndata: {}\n\n",
    ] {
        api.write_all(format!("event: {event}").as_bytes()).await.unwrap();
        read_until(&mut agent, event).await;
        assert_eq!(relay.open_requests(), 1);
    }
    drop(api);
    let traffic = settled(&relay).await;
    assert_eq!(
        (traffic.succeeded, traffic.response_model.as_deref()),
        (1, Some("claude-x"))
    );
}

#[tokio::test]
async fn encoded_bodies_pass_byte_for_byte_and_are_read_from_the_copy() {
    let (listener, url) = upstream().await;
    let relay = relay(Dialect::Anthropic, &url).await;
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    let error = format!(r#"{{"type":"error","error":{{"type":"rate_limit_error","message":"slow down, {KEY}"}}}}"#);
    encoder.write_all(error.as_bytes()).unwrap();
    let body = encoder.finish().unwrap();
    let headers = "content-type: application/json\r\ncontent-encoding: gzip\r\nretry-after: 17\r\n";
    let limited = reply("429 Too Many Requests", headers, &body);
    let (_, answer) = exchange(&relay, &listener, "/v1/messages", &limited).await;
    assert!(answer.ends_with(&body));
    assert!(String::from_utf8_lossy(&answer).contains("content-encoding: gzip\r\n"));
    let refusal = settled(&relay).await.refusal.unwrap();
    assert_eq!((refusal.status, refusal.retry_after_ms), (429, Some(17_000)));
    assert_eq!(refusal.message, "slow down, [redacted]");
    assert_eq!(refusal.kind(), RefusalKind::Transient);

    let ok = reply(
        "200 OK",
        "content-type: application/json\r\n",
        br#"{"model":"claude-x"}"#,
    );
    exchange(&relay, &listener, "/v1/messages", &ok).await;
    let traffic = relay.stop().await;
    assert_eq!((traffic.requests, traffic.succeeded, traffic.refusal), (2, 1, None));
}

#[tokio::test]
async fn what_is_no_model_endpoint_or_comes_from_elsewhere_never_reaches_the_api() {
    let (listener, url) = upstream().await;
    let relay = relay(Dialect::Anthropic, &url).await;
    let mut agent = connect(&relay).await;
    agent.write_all(post("/v1/files", "{}").as_bytes()).await.unwrap();
    assert!(read_to_end(&mut agent).await.starts_with(b"HTTP/1.1 404"));
    let mut rebound = connect(&relay).await;
    let foreign = post("/v1/messages", "{}").replace("host: 127.0.0.1", "host: evil.example");
    rebound.write_all(foreign.as_bytes()).await.unwrap();
    assert!(read_to_end(&mut rebound).await.starts_with(b"HTTP/1.1 403"));
    let mut looking = connect(&relay).await;
    looking
        .write_all(b"HEAD / HTTP/1.1\r\nhost: 127.0.0.1\r\nconnection: close\r\n\r\n")
        .await
        .unwrap();
    assert!(read_to_end(&mut looking).await.starts_with(b"HTTP/1.1 404"));
    assert_eq!(relay.take_refused(), ["POST /v1/files", "POST /v1/messages"]);
    assert_eq!(relay.stop().await.requests, 0);
    let connected = tokio::time::timeout(Duration::from_millis(50), listener.accept()).await;
    assert!(connected.is_err(), "the API was asked");
}

#[tokio::test]
async fn an_agent_that_leaves_closes_the_connection_to_the_api() {
    let (listener, url) = upstream().await;
    let relay = relay(Dialect::OpenAi, &url).await;
    for answered in [false, true] {
        let mut agent = connect(&relay).await;
        agent
            .write_all(post("/v1/chat/completions", "{}").as_bytes())
            .await
            .unwrap();
        let (mut api, _) = listener.accept().await.unwrap();
        read_until(&mut api, "{}").await;
        if answered {
            let head = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\ndata: {\"choices\":[]}\n\n";
            api.write_all(head).await.unwrap();
            read_until(&mut agent, "choices").await;
        }
        drop(agent);
        assert_eq!(read_to_end(&mut api).await, b"");
        let traffic = settled(&relay).await;
        assert_eq!((traffic.succeeded, traffic.refusal), (0, None));
    }
}

#[tokio::test]
async fn a_stream_that_the_api_breaks_off_does_not_end_cleanly_for_the_agent() {
    let (listener, url) = upstream().await;
    let relay = relay(Dialect::Anthropic, &url).await;
    let cut = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n5\r\ndata:\r\n";
    let (_, answer) = exchange(&relay, &listener, "/v1/messages", cut).await;
    let answer = String::from_utf8_lossy(&answer).into_owned();
    assert!(answer.contains("data:") && !answer.ends_with("0\r\n\r\n"), "{answer}");
    let refusal = settled(&relay).await.refusal.unwrap();
    assert_eq!(
        (refusal.status, refusal.code.as_deref()),
        (200, Some("connection_lost"))
    );
    assert_eq!(refusal.kind(), RefusalKind::Transient);
}

#[tokio::test]
async fn an_api_that_cannot_be_reached_is_a_refusal_in_the_dialects_form() {
    let (listener, url) = upstream().await;
    drop(listener);
    let relay = relay(Dialect::Anthropic, &url).await;
    let mut agent = connect(&relay).await;
    agent.write_all(post("/v1/messages", "{}").as_bytes()).await.unwrap();
    let answer = String::from_utf8_lossy(&read_to_end(&mut agent).await).into_owned();
    assert!(
        answer.starts_with("HTTP/1.1 502") && answer.contains(r#""type":"api_error""#),
        "{answer}"
    );
    let refusal = settled(&relay).await.refusal.unwrap();
    assert_eq!((refusal.status, refusal.kind()), (0, RefusalKind::Transient));
    assert!(!format!("{relay:?}").contains(KEY));
}

#[tokio::test]
async fn stopping_closes_open_streams_on_both_sides() {
    let (listener, url) = upstream().await;
    let relay = relay(Dialect::OpenAi, &url).await;
    let mut agent = connect(&relay).await;
    agent.write_all(post("/v1/responses", "{}").as_bytes()).await.unwrap();
    let (mut api, _) = listener.accept().await.unwrap();
    read_until(&mut api, "{}").await;
    let traffic = relay.stop().await;
    assert_eq!((traffic.requests, traffic.succeeded, traffic.refusal), (1, 0, None));
    assert_eq!(read_to_end(&mut agent).await, b"");
    assert_eq!(read_to_end(&mut api).await, b"");
}

#[tokio::test]
async fn the_tools_of_an_answered_request_are_known_and_its_bytes_are_untouched() {
    let (listener, url) = upstream().await;
    let relay = relay(Dialect::Anthropic, &url).await;
    let ask = async |body: &'static str, status: &'static str| {
        let mut agent = connect(&relay).await;
        agent.write_all(post("/v1/messages", body).as_bytes()).await.unwrap();
        let (mut api, _) = listener.accept().await.unwrap();
        let request = read_until(&mut api, body).await;
        assert!(request.ends_with(&format!("\r\n\r\n{body}")), "{request}");
        api.write_all(&reply(status, "content-type: application/json\r\n", b"{}"))
            .await
            .unwrap();
        drop(api);
        read_to_end(&mut agent).await;
        settled(&relay).await.tools_sent
    };
    let none: [&str; 0] = [];
    assert_eq!(
        ask(r#"{"tools":[{"name":"refused"}]}"#, "429 Too Many Requests").await,
        none
    );
    assert_eq!(
        ask(r#"{"tools": [{"name":"b"},{"name":"a"}]}"#, "200 OK").await,
        ["a", "b"]
    );
    assert_eq!(
        ask(r#"{"tools":[{"name":"a"},{"name":"c"}], "x": "#, "200 OK").await,
        ["a", "b", "c"]
    );
    assert_eq!(ask("no JSON at all", "200 OK").await, ["a", "b", "c"]);
}

#[tokio::test]
async fn the_tools_of_a_compressed_request_are_known() {
    let (listener, url) = upstream().await;
    let relay = relay(Dialect::OpenAi, &url).await;
    let body = zstd::encode_all(&br#"{"tools":[{"type":"function","name":"a"}],"input":"hi"}"#[..], 3).unwrap();
    let head = format!(
        "POST /v1/responses HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-encoding: zstd\r\nconnection: close\r\ncontent-length: {}\r\n\r\n",
        body.len()
    );
    let mut agent = connect(&relay).await;
    agent.write_all(&[head.as_bytes(), &body].concat()).await.unwrap();
    let (mut api, _) = listener.accept().await.unwrap();
    let mut seen = Vec::new();
    while !seen.ends_with(&body) {
        let mut piece = [0; 1024];
        let read = api.read(&mut piece).await.unwrap();
        assert!(read > 0);
        seen.extend_from_slice(&piece[..read]);
    }
    api.write_all(&reply("200 OK", "content-type: application/json\r\n", b"{}"))
        .await
        .unwrap();
    drop(api);
    read_to_end(&mut agent).await;
    assert_eq!(settled(&relay).await.tools_sent, ["a"]);
}

#[tokio::test]
async fn a_request_that_is_still_being_written_reaches_the_api_piece_by_piece() {
    let (listener, url) = upstream().await;
    let relay = relay(Dialect::Anthropic, &url).await;
    let body = r#"{"tools":[{"name":"a"}],"messages":[]}"#;
    let request = post("/v1/messages", body);
    let (first, second) = request.split_at(request.len() - 20);
    let mut agent = connect(&relay).await;
    agent.write_all(first.as_bytes()).await.unwrap();
    let (mut api, _) = listener.accept().await.unwrap();
    let so_far = read_until(&mut api, "\r\n\r\n{\"tools\":[{").await;
    assert!(!so_far.contains("messages\":[]"), "the agent has not written that yet");
    agent.write_all(second.as_bytes()).await.unwrap();
    read_until(&mut api, "\"messages\":[]}").await;
    api.write_all(&reply("200 OK", "content-type: application/json\r\n", b"{}"))
        .await
        .unwrap();
    drop(api);
    read_to_end(&mut agent).await;
    assert_eq!(settled(&relay).await.tools_sent, ["a"]);
}

#[tokio::test]
async fn a_refusal_of_another_model_or_endpoint_than_the_configured_is_told_apart() {
    let (listener, url) = upstream().await;
    for (model, path, elsewhere) in [
        ("m", "/v1/responses", false),
        ("other", "/v1/responses", true),
        ("m", "/v1/responses/compact", true),
        ("m", "/v1/chat/completions", true),
    ] {
        let relay = Relay::start(RelayOptions {
            dialect: Dialect::OpenAi,
            upstream: url.parse().unwrap(),
            credential: Credential::None,
            meant: Meant {
                model: Some(model.to_owned()),
                endpoint: Some("/v1/responses"),
            },
            silence: Duration::from_secs(10),
            allowance: Allowance::default(),
            ca_pem: None,
            pace: Arc::default(),
        })
        .await
        .unwrap();
        let no = reply(
            "404 Not Found",
            "",
            br#"{"error":{"message":"no","code":"model_not_found"}}"#,
        );
        exchange(&relay, &listener, path, &no).await;
        let traffic = settled(&relay).await;
        assert_eq!(traffic.refusal_elsewhere, elsewhere, "{model} {path}");
        assert_eq!(traffic.refused_for_good().is_none(), elsewhere, "{model} {path}");
    }
}
