//! What is recorded.

use mcproctor_proto::call::{CallState, ToolCall};
use mcproctor_worker::proxy::{CallEvent, Proxy};
use tokio::sync::{Barrier, mpsc};

use crate::wire::{Conn, Fixture, Server, address_of, call, options, proxy, proxy_to, result};

async fn post(fixture: &Fixture, body: &str) -> crate::wire::Raw {
    let mut agent = Conn::connect(fixture.address).await;
    agent.post("/mcp", "mcp-session-id: same\r\n", body).await;
    agent.message().await
}

#[tokio::test]
async fn the_same_id_at_the_same_time_on_one_session_is_kept_apart() {
    let barrier = std::sync::Arc::new(Barrier::new(8));
    let server = Server::start(move |mut conn: Conn| {
        let barrier = std::sync::Arc::clone(&barrier);
        async move {
            let request = conn.message().await;
            let text = request.text();
            let n = text
                .split("\"n\":")
                .nth(1)
                .unwrap()
                .split('}')
                .next()
                .unwrap()
                .to_owned();
            barrier.wait().await;
            conn.json(result("1", &format!("answer {n}"))).await;
        }
    })
    .await;
    let fixture = proxy_to(&server).await;
    let bodies: Vec<String> = (0..8).map(|n| call("1", "t", &format!("{{\"n\":{n}}}"))).collect();
    futures_util::future::join_all(bodies.iter().map(|body| post(&fixture, body))).await;
    let calls = fixture.proxy.calls().await;
    assert_eq!(calls.len(), 8);
    for call in calls {
        let n = call
            .arguments
            .unwrap()
            .get()
            .trim_start_matches("{\"n\":")
            .trim_end_matches('}')
            .to_owned();
        assert!(call.result.unwrap().get().contains(&format!("answer {n}\"")));
    }
}

#[tokio::test]
async fn every_ending_has_its_state() {
    let server = Server::start(|mut conn: Conn| async move {
        let body = conn.message().await.text();
        let tool = body.split("\"name\":\"").nth(1).unwrap().split('"').next().unwrap().to_owned();
        let error = r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"bad arguments"}}"#;
        match tool.as_str() {
            "ok" => conn.json(result("1", "a")).await,
            "tool" => conn.json(r#"{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"no city"}],"isError":true}}"#).await,
            "protocol" => conn.json(error).await,
            "protocol400" => conn.answer("400 Bad Request", "content-type: application/json\r\n", error).await,
            "noid" => conn.answer("400 Bad Request", "content-type: application/json\r\n", error.replace(":1,", ":null,")).await,
            "http" => conn.answer("503 Service Unavailable", "", "busy").await,
            "html" => conn.answer("200 OK", "content-type: text/html\r\n", "<p>").await,
            "empty" => conn.answer("200 OK", "content-type: application/json\r\n", "").await,
            "otherid" => conn.json(result("\"1\"", "a")).await,
            "cut" => conn.json("{\"jsonrpc\":\"2.0\",\"id\":1,").await,
            "neither" => conn.json(r#"{"jsonrpc":"2.0","id":1}"#).await,
            "noanswer" => {
                conn.events().await;
                conn.write("0\r\n\r\n").await;
            }
            other => panic!("{other}"),
        }
    })
    .await;
    let fixture = proxy_to(&server).await;
    let expected = [
        ("ok", CallState::Ok, None, Some(200)),
        ("tool", CallState::ToolError, Some("no city"), Some(200)),
        (
            "protocol",
            CallState::ProtocolError,
            Some("bad arguments (-32602)"),
            Some(200),
        ),
        (
            "protocol400",
            CallState::ProtocolError,
            Some("bad arguments (-32602)"),
            Some(400),
        ),
        (
            "noid",
            CallState::HttpError,
            Some("HTTP 400: bad arguments (-32602)"),
            Some(400),
        ),
        ("http", CallState::HttpError, Some("HTTP 503"), Some(503)),
        (
            "html",
            CallState::TransportLost,
            Some("the answer is text/html, not JSON"),
            Some(200),
        ),
        (
            "empty",
            CallState::TransportLost,
            Some("the answer is empty"),
            Some(200),
        ),
        (
            "otherid",
            CallState::TransportLost,
            Some("the answer carries another id than the request"),
            Some(200),
        ),
        (
            "neither",
            CallState::TransportLost,
            Some("the answer has neither a result nor an error"),
            Some(200),
        ),
        (
            "noanswer",
            CallState::TransportLost,
            Some("the event stream ended without an answer"),
            Some(200),
        ),
        ("cut", CallState::TransportLost, None, Some(200)),
    ];
    for (tool, ..) in expected {
        post(&fixture, &call("1", tool, "{}")).await;
    }
    let recorded = fixture.proxy.finish().await.unwrap();
    for ((tool, state, error, status), call) in expected.into_iter().zip(&recorded.calls) {
        assert_eq!(
            (call.tool.as_str(), call.state, call.http_status),
            (tool, state, status),
            "{call:?}"
        );
        if tool != "cut" {
            assert_eq!(call.error.as_deref(), error);
        }
    }
    let lines = std::fs::read_to_string(recorded.calls_file.unwrap()).unwrap();
    let written: Vec<ToolCall> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(
        written.iter().map(|call| &call.id).collect::<Vec<_>>(),
        recorded.calls.iter().map(|call| &call.id).collect::<Vec<_>>()
    );
}

#[tokio::test]
async fn batches_are_recorded_call_by_call() {
    let server = Server::start(|mut conn: Conn| async move {
        conn.message().await;
        conn.events().await;
        conn.chunk(format!("data: [{},{}]\n\n", result("2", "two"), result("\"1\"", "one")))
            .await;
        conn.write("0\r\n\r\n").await;
    })
    .await;
    let fixture = proxy_to(&server).await;
    let body = format!(
        "[{},{},{}]",
        call("\"1\"", "one", "{}"),
        call("1", "lost", "{}"),
        call("2", "two", "{}")
    );
    post(&fixture, &body).await;
    let calls = fixture.proxy.calls().await;
    let states: Vec<_> = calls.iter().map(|call| (call.tool.as_str(), call.state)).collect();
    assert_eq!(
        states,
        [
            ("one", CallState::Ok),
            ("lost", CallState::TransportLost),
            ("two", CallState::Ok)
        ]
    );
    assert_eq!(calls[2].bytes, result("2", "two").len() as u64);
}

#[tokio::test]
async fn exposure_and_the_wire_log_say_what_the_agent_was_shown() {
    let server = Server::start(|mut conn: Conn| async move {
        let body = conn.message().await.text();
        if body.contains("initialize\"") {
            conn.json(r#"{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-06-18","capabilities":{},"serverInfo":{"name":"weather","version":"1.2"}}}"#).await;
        } else if body.contains("tools/list") {
            conn.json(r#"{"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"forecast","inputSchema":{"type":"object"}}]}}"#).await;
        } else {
            conn.events().await;
            conn.chunk("data: {\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"elicitation/create\",\"params\":{\"message\":\"which city?\"}}\n\n").await;
            conn.chunk(format!("data: {}\n\n", result("1", "done"))).await;
            conn.write("0\r\n\r\n").await;
        }
    })
    .await;
    let fixture = proxy_to(&server).await;
    post(
        &fixture,
        r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{}}"#,
    )
    .await;
    post(&fixture, r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#).await;
    post(&fixture, &call("1", "t", "{}")).await;
    let recorded = fixture.proxy.finish().await.unwrap();
    let exposure = &recorded.exposure;
    assert!(exposure.initialized && exposure.tools_listed);
    assert_eq!(
        (exposure.tool_count, exposure.server_name.as_deref()),
        (1, Some("weather"))
    );
    assert_eq!(
        recorded.tool_list.unwrap(),
        br#"[{"inputSchema":{"type":"object"},"name":"forecast"}]"#
    );
    assert_eq!(
        recorded.calls[0].state,
        CallState::Ok,
        "the server's request with the same id is not the answer"
    );
    let wire = std::fs::read_to_string(recorded.wire_file.unwrap()).unwrap();
    let kinds: Vec<(String, String)> = wire
        .lines()
        .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap())
        .map(|line| {
            (
                line["kind"].as_str().unwrap().to_owned(),
                line["method"].as_str().unwrap().to_owned(),
            )
        })
        .collect();
    let expected = [
        ("exchange", "initialize"),
        ("exchange", "tools/list"),
        ("server_request", "elicitation/create"),
    ];
    assert_eq!(
        kinds,
        expected.map(|(kind, method)| (kind.to_owned(), method.to_owned()))
    );
}

#[tokio::test]
async fn a_server_that_never_answers_the_first_request_is_at_fault() {
    let server = Server::start(|mut conn: Conn| async move {
        let body = conn.message().await.text();
        if body.contains("tools/list") {
            conn.json(r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"no tools today"}}"#)
                .await;
        }
        conn.rest().await;
    })
    .await;
    let fixture = proxy_to(&server).await;
    let list = r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#;
    assert_eq!(post(&fixture, list).await.status(), "200");
    let mut agent = Conn::connect(fixture.address).await;
    agent
        .post("/mcp", "", r#"{"jsonrpc":"2.0","id":0,"method":"initialize"}"#)
        .await;
    let waiting = async {
        while server.connections() < 2 {
            tokio::task::yield_now().await;
        }
    };
    crate::wire::soon("the request", waiting).await;
    let exposure = fixture.proxy.finish().await.unwrap().exposure;
    let faults: Vec<&str> = exposure.faults.iter().map(|fault| fault.what.as_str()).collect();
    assert_eq!(faults.len(), 2, "{faults:?}");
    assert!(faults[0].starts_with("initialize was never answered: "), "{faults:?}");
    assert_eq!(faults[1], "tools/list: error -32603: no tools today");
    drop(agent);
}

#[tokio::test]
async fn a_request_that_the_client_breaks_off_is_not_held_against_the_server() {
    let (seen, mut was_seen) = mpsc::unbounded_channel();
    let server = Server::start(move |mut conn: Conn| {
        let seen = seen.clone();
        async move {
            conn.until("tools/call").await;
            seen.send(()).unwrap();
            conn.rest().await;
        }
    })
    .await;
    let fixture = proxy_to(&server).await;
    let mut agent = Conn::connect(fixture.address).await;
    let body = call("1", "t", "{}");
    let length = body.len() + 10;
    agent
        .write(format!(
            "POST /mcp HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\r\n{body}"
        ))
        .await;
    crate::wire::soon("the request", was_seen.recv()).await.unwrap();
    drop(agent);
    let ended = async {
        loop {
            let snapshot = fixture.proxy.snapshot().await;
            if !snapshot.calls.is_empty() && snapshot.open_calls == 0 {
                return snapshot;
            }
            tokio::task::yield_now().await;
        }
    };
    let snapshot = crate::wire::soon("the end", ended).await;
    assert_eq!(snapshot.calls[0].state, CallState::Cancelled, "{snapshot:?}");
    assert!(snapshot.exposure.faults.is_empty(), "{snapshot:?}");
}

#[tokio::test]
async fn json_is_read_behind_a_byte_order_mark_and_without_a_content_type() {
    let server = Server::start(|mut conn: Conn| async move {
        let body = conn.message().await.text();
        match body.contains("bare") {
            true => conn.answer("200 OK", "", result("1", "a")).await,
            false => conn.json(format!("\u{feff}{}", result("1", "a"))).await,
        }
    })
    .await;
    let fixture = proxy_to(&server).await;
    for tool in ["bare", "marked"] {
        post(&fixture, &format!("\u{feff}{}", call("1", tool, "{}"))).await;
    }
    let calls = fixture.proxy.calls().await;
    assert_eq!(
        calls.iter().map(|call| call.state).collect::<Vec<_>>(),
        [CallState::Ok; 2]
    );
    assert!(calls.iter().all(|call| call.bytes == result("1", "a").len() as u64));
}

#[tokio::test]
async fn a_lost_session_is_passed_on_and_flagged() {
    let server = Server::start(|mut conn: Conn| async move {
        conn.message().await;
        conn.answer(
            "404 Not Found",
            "content-type: application/json\r\n",
            r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32001,"message":"Session not found"}}"#,
        )
        .await;
    })
    .await;
    let fixture = proxy_to(&server).await;
    assert_eq!(post(&fixture, &call("1", "t", "{}")).await.status(), "404");
    let snapshot = fixture.proxy.snapshot().await;
    assert_eq!(snapshot.calls[0].state, CallState::HttpError);
    assert!(snapshot.exposure.faults[0].what.contains("lost the session"));
}

#[tokio::test]
async fn a_secret_that_the_tool_echoes_reaches_the_agent_and_no_record() {
    const SECRET: &str = "sentinel-5f1c";
    let server = Server::start(|mut conn: Conn| async move {
        let request = conn.message().await;
        let seen = request.header("authorization").unwrap().to_owned();
        conn.answer(
            "200 OK",
            &format!("content-type: application/json\r\nx-echo: {seen}\r\n"),
            format!(r#"{{"id":1,"result":{{"content":[{{"text":"{seen}"}}],"tools":[{{"name":"{seen}"}}]}}}}"#),
        )
        .await;
    })
    .await;
    let fixture = proxy(
        format!("http://{}/mcp?key=sentinel-query", server.address),
        &[("Authorization", "Bearer sentinel-5f1c")],
    )
    .await;
    assert!(!fixture.proxy.url().contains("sentinel"));
    let answer = post(&fixture, &call("1", "t", r#"{"a":"sentinel-5f1c sentinel-query"}"#)).await;
    assert!(answer.text().contains(SECRET), "bytes pass unchanged");
    assert_eq!(answer.header("x-echo"), None);
    post(&fixture, &format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{SECRET}"}}"#)).await;
    post(&fixture, r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#).await;
    let recorded = fixture.proxy.finish().await.unwrap();
    let mut everything = format!("{:?}", recorded);
    let tools = recorded.tool_list.unwrap();
    assert_eq!(String::from_utf8(tools).unwrap(), r#"[{"name":"[redacted]"}]"#);
    for entry in std::fs::read_dir(fixture.folder.path()).unwrap() {
        everything.push_str(&String::from_utf8_lossy(&std::fs::read(entry.unwrap().path()).unwrap()));
    }
    assert!(everything.contains("[redacted]"));
    assert!(!everything.contains("sentinel"), "{everything}");
}

#[tokio::test]
async fn turns_and_events_follow_the_wire() {
    let server = Server::start(|mut conn: Conn| async move {
        while let Some(head) = conn.try_head().await {
            let length = head
                .lines()
                .find_map(|line| line.strip_prefix("content-length: "))
                .unwrap()
                .parse()
                .unwrap();
            conn.exactly(length).await;
            conn.json(result("1", "a")).await;
        }
    })
    .await;
    let folder = tempfile::tempdir().unwrap();
    let (sender, mut events) = mpsc::unbounded_channel::<CallEvent>();
    let mut options = options(format!("http://{}/mcp", server.address), &[], &folder);
    options.observer = Some(Box::new(sender));
    let proxy = Proxy::start(options).await.unwrap();
    let mut agent = Conn::connect(address_of(&proxy)).await;
    for turn in 0..2 {
        proxy.set_turn(turn);
        agent.post("/mcp", "", call("1", "t", "{}")).await;
        agent.message().await;
        let Some(CallEvent::Started(started)) = events.recv().await else {
            panic!("a start")
        };
        let Some(CallEvent::Ended(ended)) = events.recv().await else {
            panic!("an end")
        };
        assert_eq!((started.turn, ended.turn, started.id == ended.id), (turn, turn, true));
        assert_eq!(ended.state, CallState::Ok);
    }
    assert!(proxy.last_activity() <= std::time::Instant::now());
}

#[tokio::test]
async fn resources_and_prompts_are_told_once_each_with_their_turn_and_without_secrets() {
    const SECRET: &str = "sentinel-0815-token";
    let server = Server::start(|mut conn: Conn| async move {
        let body = conn.message().await.text();
        match () {
            () if body.contains("missing://") => {
                conn.json(r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32002,"message":"no such resource"}}"#)
                    .await;
            }
            () if body.contains("broken") => conn.answer("503 Service Unavailable", "", "busy").await,
            () => conn.json(result("1", "a")).await,
        }
    })
    .await;
    let fixture = proxy(format!("http://{}/mcp", server.address), &[("x-token", SECRET)]).await;
    let ask = |method: &str, key: &str, name: &str| {
        format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{{"{key}":"{name}"}}}}"#)
    };
    post(&fixture, &ask("resources/read", "uri", "city://vienna")).await;
    post(&fixture, &ask("resources/read", "uri", "missing://x")).await;
    post(&fixture, &ask("resources/list", "cursor", "1")).await;
    fixture.proxy.set_turn(1);
    post(&fixture, &ask("prompts/get", "name", "greet")).await;
    post(&fixture, &ask("prompts/get", "name", "broken")).await;
    post(&fixture, &ask("resources/read", "uri", &format!("city://{SECRET}"))).await;
    let told = |requests: &[mcproctor_proto::request::McpRequest]| -> Vec<String> {
        let line =
            |it: &mcproctor_proto::request::McpRequest| format!("{} {} {} {}", it.turn, it.method, it.name, it.ok);
        requests.iter().map(line).collect()
    };
    let expected = [
        "0 resources/read city://vienna true",
        "0 resources/read missing://x false",
        "1 prompts/get greet true",
        "1 prompts/get broken false",
        "1 resources/read city://[redacted] true",
    ];
    let snapshot = fixture.proxy.snapshot().await;
    assert_eq!(told(&snapshot.requests), expected);
    let recorded = fixture.proxy.finish().await.unwrap();
    assert_eq!(told(&recorded.requests), expected);
    assert!(
        recorded
            .requests
            .iter()
            .all(|it| it.started_at_unix_ms > 1_600_000_000_000)
    );
    assert!(recorded.calls.is_empty());
}
