//! What an API, or whoever stands in for one, may send to break a relay.

use std::io::Write as _;

use flate2::Compression;
use flate2::write::GzEncoder;
use mcproctor_proto::allowance::{Allowance, CostAllowance};
use mcproctor_proto::price::Price;
use tokio::io::AsyncWriteExt;

use super::super::Dialect;
use super::{connect, exchange, post, read_to_end, read_until, relay, relay_with, reply, settled, upstream};

const JSON: &str = "content-type: application/json\r\n";
const SSE: &str = "content-type: text/event-stream\r\n";

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

#[tokio::test]
async fn bodies_that_cannot_be_read_pass_as_they_are_and_tell_nothing() {
    let (listener, url) = upstream().await;
    let endless_line = [b"data: ".to_vec(), vec![b'x'; 6 * 1024 * 1024]].concat();
    let endless_event = b"data: {\"usage\":{\"prompt_tokens\":1}}\n".repeat(200_000);
    let bomb = gzip(&vec![b' '; 128 * 1024 * 1024]);
    let nested = [b"[".repeat(500_000), b"]".repeat(500_000)].concat();
    let gzipped = |media: &str| format!("{media}content-encoding: gzip\r\n");
    let (gzipped_json, gzipped_sse) = (gzipped(JSON), gzipped(SSE));
    for (what, headers, body) in [
        ("a line without an end", SSE, &endless_line[..]),
        ("an event without an end", SSE, &endless_event[..]),
        ("a document that decodes to very much", &gzipped_json, &bomb[..]),
        ("a stream that decodes to very much", &gzipped_sse, &bomb[..]),
        ("a broken encoding", &gzipped_sse, b"\x1f\x8b\x08 and no more"),
        ("a nested document", JSON, &nested[..]),
        (
            "no text",
            JSON,
            b"{\"model\":\"\xff\xfe\",\"usage\":{\"prompt_tokens\":1,\"completion_tokens\":1}}",
        ),
        (
            "no text in events",
            SSE,
            b"data: {\"model\":\"\xff\"}\n\ndata: \xc3\x28\n\n",
        ),
        (
            "a number beyond all",
            JSON,
            b"{\"usage\":{\"prompt_tokens\":1e999,\"completion_tokens\":1}}",
        ),
        (
            "numbers that are none",
            JSON,
            b"{\"usage\":{\"prompt_tokens\":-4,\"completion_tokens\":\"9\"}}",
        ),
        ("nothing", SSE, b""),
    ] {
        let relay = relay(Dialect::OpenAi, &url).await;
        let (_, answer) = exchange(
            &relay,
            &listener,
            "/v1/chat/completions",
            &reply("200 OK", headers, body),
        )
        .await;
        assert!(answer.ends_with(body), "{what}");
        let traffic = settled(&relay).await;
        assert_eq!(traffic.requests_without_usage, 1, "{what}");
        assert_eq!(traffic.tokens().total(), 0, "{what}");
        assert!(!traffic.usage_is_known(), "{what}");
    }
}

#[tokio::test]
async fn answers_that_are_no_http_are_refusals_and_the_relay_goes_on() {
    let (listener, url) = upstream().await;
    let relay = relay(Dialect::Anthropic, &url).await;
    let long = format!("HTTP/1.1 200 OK\r\nx-long: {}\r\n\r\n", "y".repeat(1024 * 1024));
    let many = format!("HTTP/1.1 200 OK\r\n{}\r\n", "x-many: y\r\n".repeat(5_000));
    for (what, bytes) in [
        ("a header of a mebibyte", long.as_bytes()),
        ("very many headers", many.as_bytes()),
        ("no status", b"hello\r\n\r\n"),
        (
            "two lengths",
            b"HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nxx",
        ),
        ("nothing", b""),
    ] {
        let mut agent = connect(&relay).await;
        agent.write_all(post("/v1/messages", "{}").as_bytes()).await.unwrap();
        let (mut api, _) = listener.accept().await.unwrap();
        read_until(&mut api, "{}").await;
        // It may hang up before all of it is written.
        let _ = api.write_all(bytes).await;
        drop(api);
        let answer = String::from_utf8_lossy(&read_to_end(&mut agent).await).into_owned();
        assert!(
            answer.starts_with("HTTP/1.1 502") && answer.contains("api_error"),
            "{what}: {answer}"
        );
    }
    let before = settled(&relay).await;
    assert_eq!((before.succeeded, before.requests_without_usage), (0, 5));
    let ok = reply(
        "200 OK",
        JSON,
        br#"{"model":"m","usage":{"input_tokens":1,"output_tokens":1}}"#,
    );
    let (_, answer) = exchange(&relay, &listener, "/v1/messages", &ok).await;
    assert!(answer.starts_with(b"HTTP/1.1 200"));
    assert_eq!(settled(&relay).await.refusal, None);
}

#[tokio::test]
async fn counts_beyond_all_numbers_use_a_limit_up_and_overflow_nothing() {
    let (listener, url) = upstream().await;
    let price = Price {
        input_per_million: 1e300,
        output_per_million: 1e300,
        ..Price::default()
    };
    for allowance in [
        Allowance {
            tokens: Some(u64::MAX),
            ..Allowance::default()
        },
        Allowance {
            cost: Some(CostAllowance { usd: f64::MAX, price }),
            ..Allowance::default()
        },
    ] {
        let relay = relay_with(Dialect::Anthropic, &url, allowance).await;
        let huge = br#"{"model":"m","usage":{"input_tokens":18446744073709551615,"cache_read_input_tokens":1e300,
            "cache_creation_input_tokens":18446744073709551615,"output_tokens":18446744073709551615.5}}"#;
        exchange(&relay, &listener, "/v1/messages", &reply("200 OK", JSON, huge)).await;
        let mut agent = connect(&relay).await;
        agent.write_all(post("/v1/messages", "{}").as_bytes()).await.unwrap();
        assert!(read_to_end(&mut agent).await.starts_with(b"HTTP/1.1 400"));
        let traffic = relay.stop().await;
        assert_eq!((traffic.tokens().total(), traffic.limited_requests), (u64::MAX, 1));
    }
}

#[tokio::test]
async fn provisional_answers_without_end_hold_up_nobody_but_who_asked() {
    let (listener, url) = upstream().await;
    let relay = relay(Dialect::Anthropic, &url).await;
    let mut agent = connect(&relay).await;
    agent.write_all(post("/v1/messages", "{}").as_bytes()).await.unwrap();
    let (mut api, _) = listener.accept().await.unwrap();
    read_until(&mut api, "{}").await;
    api.write_all(&b"HTTP/1.1 100 Continue\r\n\r\n".repeat(10_000))
        .await
        .unwrap();
    let ok = reply(
        "200 OK",
        JSON,
        br#"{"model":"m","usage":{"input_tokens":1,"output_tokens":1}}"#,
    );
    exchange(&relay, &listener, "/v1/messages", &ok).await;
    drop(agent);
    assert_eq!(settled(&relay).await.succeeded, 1);
}
