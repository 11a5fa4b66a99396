//! What an attempt may use, held to between real sockets.

use std::time::{Duration, Instant};

use mcproctor_proto::allowance::{Allowance, CostAllowance};
use mcproctor_proto::price::Price;
use tokio::io::AsyncWriteExt;

use super::super::Dialect;
use super::{connect, exchange, post, read_to_end, read_until, relay_with, reply, settled, upstream};

const JSON: &str = "content-type: application/json\r\n";

async fn is_not_asked(listener: &tokio::net::TcpListener) {
    let connected = tokio::time::timeout(Duration::from_millis(50), listener.accept()).await;
    assert!(connected.is_err(), "the API was asked");
}

#[tokio::test]
async fn once_the_tokens_are_used_up_requests_are_refused_in_the_dialects_form_and_the_api_is_not_asked() {
    for (dialect, path, usage, form) in [
        (
            Dialect::Anthropic,
            "/v1/messages",
            r#"{"input_tokens":60,"cache_read_input_tokens":30,"output_tokens":10}"#,
            r#"{"error":{"details":{"error_code":"attempt_limit_reached"},"message":"what this attempt may use"#,
        ),
        (
            Dialect::OpenAi,
            "/v1/responses",
            r#"{"input_tokens":90,"output_tokens":10}"#,
            r#"{"error":{"code":"attempt_limit_reached","message":"what this attempt may use"#,
        ),
    ] {
        let (listener, url) = upstream().await;
        let allowance = Allowance {
            tokens: Some(150),
            ..Allowance::default()
        };
        let relay = relay_with(dialect, &url, allowance).await;
        let body = format!(r#"{{"model":"m","usage":{usage}}}"#);
        let ok = reply("200 OK", JSON, body.as_bytes());
        // The second goes over the limit: it had begun before.
        for _ in 0..2 {
            let (_, answer) = exchange(&relay, &listener, path, &ok).await;
            assert!(answer.starts_with(b"HTTP/1.1 200"));
        }
        let mut agent = connect(&relay).await;
        agent.write_all(post(path, "{}").as_bytes()).await.unwrap();
        let answer = String::from_utf8_lossy(&read_to_end(&mut agent).await).into_owned();
        assert!(answer.starts_with("HTTP/1.1 400") && answer.contains(form), "{answer}");
        assert!(answer.contains(r#""type":"invalid_request_error""#), "{answer}");
        is_not_asked(&listener).await;
        let traffic = relay.stop().await;
        assert_eq!((traffic.limited_requests, traffic.refusal.as_ref()), (1, None));
        assert_eq!(traffic.tokens().total(), 200);
    }
}

#[tokio::test]
async fn a_request_that_is_refused_is_read_to_its_end_so_that_its_refusal_arrives() {
    let (_listener, url) = upstream().await;
    let allowance = Allowance {
        tokens: Some(0),
        ..Allowance::default()
    };
    let relay = relay_with(Dialect::OpenAi, &url, allowance).await;
    // More than waits in the buffers of a connection.
    let large = format!(r#"{{"input":"{}"}}"#, "x".repeat(16 << 20));
    for (path, status) in [("/v1/responses", "HTTP/1.1 400"), ("/v1/files", "HTTP/1.1 404")] {
        let mut agent = connect(&relay).await;
        agent.write_all(post(path, &large).as_bytes()).await.unwrap();
        let answer = String::from_utf8_lossy(&read_to_end(&mut agent).await).into_owned();
        assert!(answer.starts_with(status), "{path}: {answer}");
    }
}

#[tokio::test]
async fn money_is_held_to_by_the_price_it_was_given() {
    let (listener, url) = upstream().await;
    let price = Price {
        input_per_million: 1_000_000.0,
        output_per_million: 0.0,
        ..Price::default()
    };
    let allowance = Allowance {
        cost: Some(CostAllowance { usd: 5.0, price }),
        ..Allowance::default()
    };
    let relay = relay_with(Dialect::OpenAi, &url, allowance).await;
    let ok = reply(
        "200 OK",
        JSON,
        br#"{"model":"m","usage":{"prompt_tokens":5,"completion_tokens":900}}"#,
    );
    exchange(&relay, &listener, "/v1/chat/completions", &ok).await;
    // Counting tokens and listing models cost nothing.
    let models = reply("200 OK", JSON, b"{}");
    let (_, answer) = exchange(&relay, &listener, "/v1/responses/input_tokens", &models).await;
    assert!(answer.starts_with(b"HTTP/1.1 200"));
    let mut agent = connect(&relay).await;
    agent
        .write_all(post("/v1/chat/completions", "{}").as_bytes())
        .await
        .unwrap();
    assert!(read_to_end(&mut agent).await.starts_with(b"HTTP/1.1 400"));
    is_not_asked(&listener).await;
}

#[tokio::test]
async fn a_rate_delays_requests_refuses_none_and_counts_as_waiting() {
    let (listener, url) = upstream().await;
    let interval = Duration::from_millis(300);
    let allowance = Allowance {
        request_interval: Some(interval),
        ..Allowance::default()
    };
    let relay = relay_with(Dialect::Anthropic, &url, allowance).await;
    let begun = Instant::now();
    let ok = reply("200 OK", JSON, br#"{"model":"m"}"#);
    for _ in 0..3 {
        let (_, answer) = exchange(&relay, &listener, "/v1/messages", &ok).await;
        assert!(answer.starts_with(b"HTTP/1.1 200"));
    }
    assert!(begun.elapsed() >= 2 * interval, "{:?}", begun.elapsed());
    let traffic = settled(&relay).await;
    assert_eq!((traffic.succeeded, traffic.limited_requests), (3, 0));
    assert!(
        traffic.held_ms > 0 && traffic.held_ms <= traffic.waiting_ms,
        "{traffic:?}"
    );
}

#[tokio::test]
async fn an_agent_that_leaves_while_its_request_is_held_back_asks_the_api_nothing() {
    let (listener, url) = upstream().await;
    let allowance = Allowance {
        request_interval: Some(Duration::from_secs(60)),
        ..Allowance::default()
    };
    let relay = relay_with(Dialect::Anthropic, &url, allowance).await;
    let ok = reply("200 OK", JSON, br#"{"model":"m"}"#);
    exchange(&relay, &listener, "/v1/messages", &ok).await;
    let mut agent = connect(&relay).await;
    agent.write_all(post("/v1/messages", "{}").as_bytes()).await.unwrap();
    while relay.open_requests() == 0 {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    drop(agent);
    settled(&relay).await;
    is_not_asked(&listener).await;
    // A request of another kind is not held back.
    let mut agent = connect(&relay).await;
    let models = post("/v1/models", "").replace("POST", "GET");
    agent.write_all(models.as_bytes()).await.unwrap();
    let (mut api, _) = listener.accept().await.unwrap();
    read_until(&mut api, "GET /v1/models").await;
}

#[tokio::test]
async fn requests_that_are_given_up_while_they_wait_leave_their_places_to_others() {
    let (listener, url) = upstream().await;
    let interval = Duration::from_millis(400);
    let allowance = Allowance {
        request_interval: Some(interval),
        ..Allowance::default()
    };
    let relay = relay_with(Dialect::Anthropic, &url, allowance).await;
    let ok = reply("200 OK", JSON, br#"{"model":"m"}"#);
    exchange(&relay, &listener, "/v1/messages", &ok).await;
    let begun = Instant::now();
    let mut agents = Vec::new();
    for _ in 0..40 {
        let mut agent = connect(&relay).await;
        agent.write_all(post("/v1/messages", "{}").as_bytes()).await.unwrap();
        agents.push(agent);
    }
    while relay.open_requests() < agents.len() {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    drop(agents);
    let (_, answer) = exchange(&relay, &listener, "/v1/messages", &ok).await;
    assert!(answer.starts_with(b"HTTP/1.1 200"));
    assert!(begun.elapsed() < 10 * interval, "it waited behind those that are gone");
}

#[tokio::test]
async fn what_has_nothing_left_to_ask_with_is_refused_before_it_waits_for_a_place() {
    let (listener, url) = upstream().await;
    let allowance = Allowance {
        tokens: Some(5),
        request_interval: Some(Duration::from_secs(3_600)),
        ..Allowance::default()
    };
    let relay = relay_with(Dialect::Anthropic, &url, allowance).await;
    let ok = reply(
        "200 OK",
        JSON,
        br#"{"model":"m","usage":{"input_tokens":5,"output_tokens":0}}"#,
    );
    exchange(&relay, &listener, "/v1/messages", &ok).await;
    let mut agent = connect(&relay).await;
    agent.write_all(post("/v1/messages", "{}").as_bytes()).await.unwrap();
    assert!(read_to_end(&mut agent).await.starts_with(b"HTTP/1.1 400"));
}
