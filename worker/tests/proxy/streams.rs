//! Streams: each event at once, and every way that a stream can end.

use mcproctor_proto::call::CallState;
use mcproctor_worker::proxy::Proxy;
use tokio::sync::mpsc;

use crate::wire::{Conn, Server, address_of, call, options, proxy_to, result, soon};

#[tokio::test]
async fn an_event_reaches_agent_and_record_before_the_stream_ends() {
    let (go, mut gone) = mpsc::channel::<()>(1);
    let gone = std::sync::Arc::new(tokio::sync::Mutex::new(async move { gone.recv().await }));
    let server = Server::start(move |mut conn: Conn| {
        let _gone = std::sync::Arc::clone(&gone);
        async move {
            conn.message().await;
            conn.events().await;
            conn.chunk(
                "event: message\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\",\"params\":{}}\n\n",
            )
            .await;
            conn.chunk(format!("data: {}\n\n", result("1", "early"))).await;
            // The stream stays open and silent.
            conn.rest().await;
        }
    })
    .await;
    let fixture = proxy_to(&server).await;
    let mut agent = Conn::connect(fixture.address).await;
    agent.post("/mcp", "", call("1", "t", "{}")).await;
    agent.head().await;
    agent.until("early").await;
    let calls = fixture.proxy.calls().await;
    assert_eq!(calls[0].state, CallState::Ok);
    assert_eq!(fixture.proxy.open_calls(), 0);
    drop(go);
}

#[tokio::test]
async fn the_head_of_a_silent_stream_arrives_at_once_and_the_start_is_recorded() {
    let server = Server::start(|mut conn: Conn| async move {
        conn.message().await;
        conn.events().await;
        conn.rest().await;
    })
    .await;
    let fixture = proxy_to(&server).await;
    let mut agent = Conn::connect(fixture.address).await;
    agent.post("/mcp", "", call("1", "slow", r#"{"a":1.0}"#)).await;
    assert!(agent.head().await.contains("text/event-stream"));
    let snapshot = fixture.proxy.snapshot().await;
    assert_eq!(snapshot.open_calls, 1);
    assert_eq!(snapshot.calls[0].tool, "slow");
    assert_eq!(snapshot.calls[0].arguments.as_ref().unwrap().get(), r#"{"a":1.0}"#);
    let recorded = fixture.proxy.finish().await.unwrap();
    assert_eq!(recorded.calls[0].state, CallState::NeverFinished);
}

#[tokio::test]
async fn awkward_framing_byte_by_byte_passes_and_is_understood() {
    let pretty = "{\r\ndata: \"jsonrpc\":\"2.0\",\"id\":1,\r\ndata:\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"🌦\"}]}}";
    let stream = format!(": hi\r\n\r\nevent: message\r\nid: 7\r\ndata: {pretty}\r\n\r\n");
    let sent = stream.clone();
    let server = Server::start(move |mut conn: Conn| {
        let sent = sent.clone();
        async move {
            conn.message().await;
            conn.events().await;
            for byte in sent.as_bytes() {
                conn.chunk([*byte]).await;
            }
            conn.write("0\r\n\r\n").await;
        }
    })
    .await;
    let fixture = proxy_to(&server).await;
    let mut agent = Conn::connect(fixture.address).await;
    agent.post("/mcp", "", call("1", "t", "{}")).await;
    assert_eq!(agent.message().await.text(), stream);
    let calls = fixture.proxy.calls().await;
    assert_eq!(calls[0].state, CallState::Ok, "{:?}", calls[0].error);
}

#[tokio::test]
async fn when_the_agent_leaves_the_server_is_told_at_once() {
    for early in [true, false] {
        let (left, mut was_left) = mpsc::unbounded_channel();
        let server = Server::start(move |mut conn: Conn| {
            let left = left.clone();
            async move {
                conn.message().await;
                if !early {
                    conn.events().await;
                }
                left.send("asked").unwrap();
                assert!(conn.rest().await.is_empty());
                left.send("left").unwrap();
            }
        })
        .await;
        let fixture = proxy_to(&server).await;
        let mut agent = Conn::connect(fixture.address).await;
        agent.post("/mcp", "", call("1", "t", "{}")).await;
        assert_eq!(soon("the request", was_left.recv()).await, Some("asked"));
        if !early {
            agent.head().await;
        }
        drop(agent);
        assert_eq!(soon("the close", was_left.recv()).await, Some("left"));
        let calls = fixture.proxy.calls().await;
        assert_eq!(calls[0].state, CallState::Cancelled);
        assert!(
            calls[0].error.as_ref().unwrap().starts_with("the client left after "),
            "{:?}",
            calls[0].error
        );
    }
}

#[tokio::test]
async fn in_the_stateless_revision_leaving_cancels() {
    let server = Server::start(|mut conn: Conn| async move {
        conn.message().await;
        conn.events().await;
        conn.rest().await;
    })
    .await;
    let fixture = proxy_to(&server).await;
    let mut agent = Conn::connect(fixture.address).await;
    agent
        .post("/mcp", "mcp-protocol-version: 2026-07-28\r\n", call("1", "t", "{}"))
        .await;
    agent.head().await;
    drop(agent);
    let calls = soon("the end", async {
        loop {
            let snapshot = fixture.proxy.snapshot().await;
            if snapshot.open_calls == 0 {
                return snapshot.calls;
            }
            tokio::task::yield_now().await;
        }
    })
    .await;
    assert_eq!(calls[0].state, CallState::Cancelled);
    assert!(calls[0].error.as_ref().unwrap().starts_with("cancelled by client at "));
}

#[tokio::test]
async fn a_server_that_dies_mid_answer_gives_an_aborted_stream() {
    for chunked in [true, false] {
        let server = Server::start(move |mut conn: Conn| async move {
            conn.message().await;
            if chunked {
                conn.events().await;
                conn.chunk("data: {\"jsonrpc\":").await;
            } else {
                conn.write("HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 100\r\n\r\n{\"json")
                    .await;
            }
        })
        .await;
        let fixture = proxy_to(&server).await;
        let mut agent = Conn::connect(fixture.address).await;
        agent.post("/mcp", "", call("1", "t", "{}")).await;
        agent.head().await;
        let rest = soon("the end", agent.rest()).await;
        assert!(!rest.ends_with(b"0\r\n\r\n"), "no clean end");
        let calls = fixture.proxy.calls().await;
        assert_eq!(calls[0].state, CallState::TransportLost);
        assert!(
            calls[0]
                .error
                .as_ref()
                .unwrap()
                .contains("connection to the server broke"),
            "{:?}",
            calls[0].error
        );
    }
}

#[tokio::test]
async fn a_server_that_closes_without_an_answer_is_not_answered_for() {
    let server = Server::start(|mut conn: Conn| async move {
        conn.message().await;
    })
    .await;
    let fixture = proxy_to(&server).await;
    let mut agent = Conn::connect(fixture.address).await;
    agent.post("/mcp", "", call("1", "t", "{}")).await;
    assert!(soon("the close", agent.rest()).await.is_empty());
    assert_eq!(server.connections(), 1, "a call is never sent twice");
    assert_eq!(fixture.proxy.calls().await[0].state, CallState::TransportLost);
}

#[tokio::test]
async fn a_dropped_get_can_be_reopened_where_only_one_stream_is_allowed() {
    let server = Server::start({
        let open = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false));
        move |mut conn: Conn| {
            let open = std::sync::Arc::clone(&open);
            async move {
                use std::sync::atomic::Ordering::SeqCst;
                conn.message().await;
                if open.swap(true, SeqCst) {
                    return conn.answer("409 Conflict", "", "").await;
                }
                conn.events().await;
                conn.rest().await;
                open.store(false, SeqCst);
            }
        }
    })
    .await;
    let fixture = proxy_to(&server).await;
    let mut first = Conn::connect(fixture.address).await;
    first.get("/mcp", "mcp-session-id: s\r\n").await;
    assert!(first.head().await.starts_with("HTTP/1.1 200"));
    drop(first);
    soon("the reopening", async {
        loop {
            let mut second = Conn::connect(fixture.address).await;
            second.get("/mcp", "mcp-session-id: s\r\n").await;
            if second.head().await.starts_with("HTTP/1.1 200") {
                break;
            }
        }
    })
    .await;
}

#[tokio::test]
async fn a_resumed_stream_brings_the_answer() {
    let server = Server::start(|mut conn: Conn| async move {
        let request = conn.message().await;
        conn.events().await;
        if request.head.starts_with("GET") {
            assert_eq!(request.header("last-event-id"), Some("e-1"));
            conn.chunk(format!("id: e-2\ndata: {}\n\n", result("1", "late"))).await;
        } else {
            conn.chunk("id: e-1\ndata:\n\nretry: 10\n\n").await;
        }
        conn.write("0\r\n\r\n").await;
    })
    .await;
    let fixture = proxy_to(&server).await;
    let mut agent = Conn::connect(fixture.address).await;
    agent.post("/mcp", "mcp-session-id: s\r\n", call("1", "t", "{}")).await;
    agent.message().await;
    assert_eq!(fixture.proxy.calls().await[0].state, CallState::Suspended);
    let mut again = Conn::connect(fixture.address).await;
    again.get("/mcp", "mcp-session-id: s\r\nlast-event-id: e-1\r\n").await;
    again.message().await;
    let calls = fixture.proxy.calls().await;
    assert_eq!((calls[0].state, calls[0].legs), (CallState::Ok, 1));
}

#[tokio::test]
async fn the_legacy_transport_stays_inside_the_proxy() {
    let (to_stream, from_post) = mpsc::unbounded_channel::<String>();
    let from_post = std::sync::Arc::new(tokio::sync::Mutex::new(from_post));
    let server = Server::start(move |mut conn: Conn| {
        let (to_stream, from_post) = (to_stream.clone(), std::sync::Arc::clone(&from_post));
        async move {
            let request = conn.message().await;
            if request.head.starts_with("GET") {
                let host = request.header("host").unwrap().to_owned();
                conn.events().await;
                conn.chunk(format!("event: endpoint\ndata: http://{host}/messages?sid=1\n\n"))
                    .await;
                let mut from_post = from_post.lock().await;
                while let Some(answer) = from_post.recv().await {
                    conn.chunk(format!("event: message\ndata: {answer}\n\n")).await;
                }
            } else {
                assert!(request.head.starts_with("POST /messages?sid=1 "), "{}", request.head);
                to_stream.send(result("1", "over there")).unwrap();
                conn.answer("202 Accepted", "", "Accepted").await;
            }
        }
    })
    .await;
    let fixture = crate::wire::proxy(format!("http://{}/sse", server.address), &[]).await;
    let mut stream = Conn::connect(fixture.address).await;
    stream.get("/sse", "").await;
    stream.head().await;
    let first = String::from_utf8(stream.next_chunk().await.unwrap()).unwrap();
    assert_eq!(
        first,
        format!("event: endpoint\ndata: http://{}/messages?sid=1\n\n", fixture.address)
    );
    let mut post = Conn::connect(fixture.address).await;
    post.post("/messages?sid=1", "", call("1", "t", "{}")).await;
    assert_eq!(post.message().await.status(), "202");
    stream.until("over there").await;
    let calls = fixture.proxy.calls().await;
    assert_eq!(calls[0].state, CallState::Ok, "{:?}", calls[0].error);
}

#[tokio::test]
async fn a_dropped_proxy_lets_go_of_both_sides() {
    let (left, mut was_left) = mpsc::unbounded_channel();
    let server = Server::start(move |mut conn: Conn| {
        let left = left.clone();
        async move {
            conn.message().await;
            conn.events().await;
            conn.rest().await;
            left.send(()).unwrap();
        }
    })
    .await;
    let fixture = proxy_to(&server).await;
    let mut agent = Conn::connect(fixture.address).await;
    agent.get("/mcp", "").await;
    agent.head().await;
    let address = fixture.address;
    drop(fixture);
    soon("the server's side", was_left.recv()).await.unwrap();
    agent.rest().await;
    assert!(
        tokio::net::TcpStream::connect(address).await.is_err(),
        "nobody listens any more"
    );
}

#[tokio::test]
async fn an_agent_with_more_connections_than_allowed_waits_until_one_ends() {
    let server = Server::start(|mut conn: Conn| async move {
        while conn.try_head().await.is_some() {
            conn.exactly(call("1", "t", "{}").len()).await;
            conn.json(result("1", "well")).await;
        }
    })
    .await;
    let folder = tempfile::tempdir().unwrap();
    let mut options = options(format!("http://{}/mcp", server.address), &[], &folder);
    options.most_connections = 2;
    let proxy = Proxy::start(options).await.unwrap();
    let ask = async |agent: &mut Conn| agent.post("/mcp", "", call("1", "t", "{}")).await;
    let mut held = Vec::new();
    for _ in 0..2 {
        held.push(Conn::connect(address_of(&proxy)).await);
    }
    let mut next = Conn::connect(address_of(&proxy)).await;
    ask(&mut next).await;
    for agent in &mut held {
        ask(agent).await;
        assert!(agent.message().await.text().contains("well"));
    }
    assert_eq!(proxy.calls().await.len(), 2);
    drop(held.pop());
    assert!(next.message().await.text().contains("well"));
}
