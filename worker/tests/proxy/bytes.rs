//! Bytes pass unchanged, both ways.

use mcproctor_proto::call::CallState;
use sha2::{Digest, Sha256};

use crate::wire::{Conn, Fixture, Server, call, proxy, proxy_to, result, soon};

async fn ask(fixture: &Fixture, body: &str) -> crate::wire::Raw {
    let mut agent = Conn::connect(fixture.address).await;
    agent.post("/mcp", "", body).await;
    agent.message().await
}

#[tokio::test]
async fn compressed_answers_pass_encoded_and_are_recorded_decoded() {
    let plain = include_bytes!("fixtures/answer.json").as_slice();
    let encodings: [(&str, &[u8]); 4] = [
        ("gzip", include_bytes!("fixtures/answer.json.gz")),
        ("deflate", include_bytes!("fixtures/answer.json.deflate")),
        ("br", include_bytes!("fixtures/answer.json.br")),
        ("zstd", include_bytes!("fixtures/answer.json.zst")),
    ];
    for (encoding, encoded) in encodings {
        let server = Server::start(move |mut conn: Conn| async move {
            let request = conn.message().await;
            assert_eq!(
                request.header("accept-encoding"),
                None,
                "nothing is asked for on the agent's behalf"
            );
            let headers = format!("content-type: application/json\r\ncontent-encoding: {encoding}\r\n");
            conn.answer("200 OK", &headers, encoded).await;
        })
        .await;
        let fixture = proxy_to(&server).await;
        let answer = ask(&fixture, &call("1", "t", "{}")).await;
        assert_eq!(answer.header("content-encoding"), Some(encoding));
        assert_eq!(
            answer.header("content-length"),
            Some(encoded.len().to_string().as_str())
        );
        assert!(answer.body == encoded, "{encoding}");
        let calls = fixture.proxy.calls().await;
        assert_eq!(calls[0].state, CallState::Ok, "{encoding}: {:?}", calls[0].error);
        assert_eq!(calls[0].bytes, plain.len() as u64);
        assert_eq!(calls[0].sha256, hex::encode(Sha256::digest(plain)));
    }
}

#[tokio::test]
async fn the_request_arrives_as_it_was_sent() {
    let server = Server::start(|mut conn: Conn| async move {
        let request = conn.message().await;
        assert!(
            request.head.starts_with("POST /mcp/?a=%20b&c HTTP/1.1\r\n"),
            "{}",
            request.head
        );
        assert_eq!(request.header("accept-encoding"), Some("gzip;q=0.5, br"));
        assert_eq!(request.header("mcp-param-city"), Some("=?base64?WsO8cmljaA==?="));
        assert_eq!(request.header("connection"), None);
        assert_eq!(request.header("x-hop"), None);
        assert!(request.header("host").unwrap().starts_with("127.0.0.1:"));
        conn.answer(
            "200 Fine",
            "content-type: application/json\r\nx-extra: 1\r\nx-extra: 2\r\nkeep-alive: timeout=5\r\n",
            &request.body,
        )
        .await;
    })
    .await;
    let fixture = proxy(format!("http://{}/mcp/", server.address), &[]).await;
    assert!(fixture.proxy.url().ends_with("/mcp/"));
    let mut agent = Conn::connect(fixture.address).await;
    let body = "{ \"jsonrpc\" : \"2.0\",\r\n\t\"method\":\"ping\", \"id\" : 9007199254740993 }\n";
    let headers = "accept-encoding: gzip;q=0.5, br\r\nmcp-param-city: =?base64?WsO8cmljaA==?=\r\nconnection: x-hop\r\nx-hop: 1\r\n";
    agent.post("/mcp/?a=%20b&c", headers, body).await;
    let answer = agent.message().await;
    assert!(answer.head.starts_with("HTTP/1.1 200 Fine\r\n"), "{}", answer.head);
    assert_eq!(answer.head.matches("x-extra: ").count(), 2);
    assert_eq!(answer.header("keep-alive"), None);
    assert_eq!(answer.header("date"), None, "no header is added");
    assert_eq!(answer.text(), body);
}

#[tokio::test]
async fn a_chunked_request_streams_to_the_server_before_it_ends() {
    let server = Server::start(|mut conn: Conn| async move {
        let head = conn.head().await;
        assert!(head.to_ascii_lowercase().contains("transfer-encoding: chunked"));
        let first = conn.next_chunk().await.unwrap();
        conn.write(format!(
            "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n",
            first.len()
        ))
        .await;
        assert_eq!(conn.next_chunk().await.unwrap(), b"second");
        conn.write(first).await;
    })
    .await;
    let fixture = proxy_to(&server).await;
    let mut agent = Conn::connect(fixture.address).await;
    agent
        .write("POST /mcp HTTP/1.1\r\nhost: localhost\r\ntransfer-encoding: chunked\r\n\r\n")
        .await;
    agent.chunk("first").await;
    assert!(agent.head().await.starts_with("HTTP/1.1 200"));
    agent.chunk("second").await;
    assert_eq!(agent.exactly(5).await, b"first");
}

#[tokio::test]
async fn other_methods_and_statuses_pass() {
    let server = Server::start(|mut conn: Conn| async move {
        while let Some(head) = conn.try_head().await {
            match head.split(' ').next().unwrap() {
                "DELETE" => conn.answer("405 Method Not Allowed", "allow: POST\r\n", "").await,
                "OPTIONS" => {
                    conn.write("HTTP/1.1 204 No Content\r\naccess-control-allow-origin: *\r\n\r\n")
                        .await
                }
                "GET" => conn.answer("405 Method Not Allowed", "", "no stream").await,
                "HEAD" => conn.write("HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\n").await,
                other => panic!("{other}"),
            }
        }
    })
    .await;
    let fixture = proxy_to(&server).await;
    let mut agent = Conn::connect(fixture.address).await;
    for (method, status) in [("DELETE", "405"), ("OPTIONS", "204"), ("GET", "405"), ("HEAD", "200")] {
        agent
            .write(format!(
                "{method} /mcp HTTP/1.1\r\nhost: localhost\r\nmcp-session-id: a\r\n\r\n"
            ))
            .await;
        let head = agent.head().await;
        assert_eq!(head.split(' ').nth(1), Some(status), "{method}");
        if method == "GET" {
            assert_eq!(agent.exactly(9).await, b"no stream");
        }
    }
    assert_eq!(server.connections(), 1, "the pair of connections is used again");
    assert!(fixture.proxy.exposure().await.faults.is_empty());
}

#[tokio::test]
async fn a_body_beyond_the_cap_passes_whole_and_keeps_id_error_state_size_and_hash() {
    const SIZE: usize = 64 * 1024 * 1024;
    let text = "x".repeat(SIZE);
    let body = format!(
        r#"{{"jsonrpc":"2.0","result":{{"content":[{{"type":"text","text":"{text}"}}],"isError":true}},"id":"a"}}"#
    );
    let hash = hex::encode(Sha256::digest(body.as_bytes()));
    let sent = std::sync::Arc::new(body);
    let server = Server::start({
        let sent = std::sync::Arc::clone(&sent);
        move |mut conn: Conn| {
            let sent = std::sync::Arc::clone(&sent);
            async move {
                conn.message().await;
                conn.json(sent.as_bytes()).await;
            }
        }
    })
    .await;
    let fixture = proxy_to(&server).await;
    let answer = ask(&fixture, &call("\"a\"", "big", r#"{"n":1}"#)).await;
    assert!(answer.body == sent.as_bytes());
    let recorded = fixture.proxy.finish().await.unwrap();
    let big = &recorded.calls[0];
    assert_eq!(
        (big.state, big.truncated, big.bytes),
        (CallState::ToolError, true, sent.len() as u64)
    );
    assert_eq!(big.sha256, hash);
    assert!(big.result.is_none());
    assert_eq!(recorded.exposure.recording_fault, None);
}

#[tokio::test]
async fn a_broken_compressed_body_still_passes_and_says_so() {
    let server = Server::start(|mut conn: Conn| async move {
        conn.message().await;
        conn.answer(
            "200 OK",
            "content-type: application/json\r\ncontent-encoding: gzip\r\n",
            result("1", "plain"),
        )
        .await;
    })
    .await;
    let fixture = proxy_to(&server).await;
    assert_eq!(ask(&fixture, &call("1", "t", "{}")).await.text(), result("1", "plain"));
    let calls = fixture.proxy.calls().await;
    assert_eq!(calls[0].state, CallState::TransportLost);
    assert!(
        calls[0].error.as_ref().unwrap().contains("content encoding"),
        "{:?}",
        calls[0].error
    );
}

#[tokio::test]
async fn an_idle_connection_that_the_server_closes_is_closed_towards_the_agent_too() {
    let server = Server::start(|mut conn: Conn| async move {
        conn.message().await;
        conn.json(result("1", "a")).await;
    })
    .await;
    let fixture = proxy_to(&server).await;
    let mut agent = Conn::connect(fixture.address).await;
    agent.post("/mcp", "", call("1", "t", "{}")).await;
    agent.message().await;
    assert!(soon("the close", agent.rest()).await.is_empty());
}

#[tokio::test]
async fn redirects_inside_the_origin_are_followed_with_the_body() {
    let server = Server::start(|mut conn: Conn| async move {
        while let Some(head) = conn.try_head().await {
            let length = head
                .lines()
                .find_map(|line| line.strip_prefix("content-length: "))
                .unwrap()
                .parse()
                .unwrap();
            let body = conn.exactly(length).await;
            match head.split(' ').nth(1).unwrap() {
                "/mcp" => {
                    conn.answer("307 Temporary Redirect", "location: /v2/mcp?x=1\r\n", "gone")
                        .await
                }
                "/v2/mcp?x=1" => {
                    assert!(
                        head.to_ascii_lowercase()
                            .contains("authorization: bearer sentinel-token")
                    );
                    assert!(String::from_utf8(body).unwrap().contains("tools/call"));
                    conn.json(result("1", "there")).await;
                }
                other => panic!("{other}"),
            }
        }
    })
    .await;
    let fixture = proxy(
        format!("http://{}/mcp", server.address),
        &[("Authorization", "Bearer sentinel-token")],
    )
    .await;
    assert_eq!(ask(&fixture, &call("1", "t", "{}")).await.text(), result("1", "there"));
    let calls = fixture.proxy.calls().await;
    assert_eq!((calls.len(), calls[0].state), (1, CallState::Ok));
}

#[tokio::test]
async fn a_redirect_to_another_origin_gets_nothing() {
    let elsewhere = Server::start(|_| async {}).await;
    let location = format!("location: http://{}/mcp\r\n", elsewhere.address);
    let server = Server::start(move |mut conn: Conn| {
        let location = location.clone();
        async move {
            conn.message().await;
            conn.answer("308 Permanent Redirect", &location, "").await;
        }
    })
    .await;
    let fixture = proxy(
        format!("http://{}/mcp", server.address),
        &[("Authorization", "Bearer sentinel-token")],
    )
    .await;
    let answer = ask(&fixture, &call("1", "t", "{}")).await;
    assert_eq!(answer.status(), "502");
    assert_eq!(answer.header("location"), None);
    assert_eq!(elsewhere.connections(), 0);
    let snapshot = fixture.proxy.snapshot().await;
    assert!(snapshot.exposure.faults[0].what.contains("another origin"));
    let call = &snapshot.calls[0];
    assert_eq!((call.state, call.http_status), (CallState::HttpError, Some(502)));
    assert!(
        call.server_fault() && call.error.as_ref().unwrap().contains("another origin"),
        "{call:?}"
    );
}

#[tokio::test]
async fn a_redirect_that_never_ends_is_the_servers_fault() {
    let server = Server::start(|mut conn: Conn| async move {
        while let Some(head) = conn.try_head().await {
            let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
            conn.exactly(length.unwrap().parse().unwrap()).await;
            conn.answer("307 Temporary Redirect", "location: /mcp\r\n", "").await;
        }
    })
    .await;
    let fixture = proxy(format!("http://{}/mcp", server.address), &[]).await;
    assert_eq!(ask(&fixture, &call("1", "t", "{}")).await.status(), "502");
    let calls = fixture.proxy.calls().await;
    assert_eq!(
        (calls.len(), calls[0].http_status, calls[0].server_fault()),
        (1, Some(502), true)
    );
}

#[tokio::test]
async fn a_server_that_is_not_there_is_a_502_and_the_call_is_lost() {
    let closed = {
        tokio::net::TcpListener::bind("127.0.0.1:0")
            .await
            .unwrap()
            .local_addr()
            .unwrap()
    };
    let fixture = proxy(format!("http://{closed}/mcp"), &[]).await;
    assert_eq!(ask(&fixture, &call("1", "t", "{}")).await.status(), "502");
    assert_eq!(
        ask(&fixture, r#"{"jsonrpc":"2.0","id":1,"method":"initialize"}"#)
            .await
            .status(),
        "502"
    );
    let snapshot = fixture.proxy.snapshot().await;
    assert_eq!(snapshot.calls[0].state, CallState::TransportLost);
    assert!(
        snapshot.exposure.faults[0]
            .what
            .starts_with("initialize: the server cannot be reached"),
        "{snapshot:?}"
    );
}
