//! Those who come to a gateway and never get to the point. The clock is held: it goes on when everybody waits.

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::Instant;

use super::{Bed, both, ok, request, tls};
use crate::relay::GatewayLimits;

/// What is read until the other side hangs up, and after how many seconds it did.
async fn until_it_ends(stream: &mut TcpStream) -> (String, u64) {
    let begun = Instant::now();
    let mut all = Vec::new();
    // A reset is an end, too.
    let _ = stream.read_to_end(&mut all).await;
    (String::from_utf8_lossy(&all).into_owned(), begun.elapsed().as_secs())
}

#[tokio::test(start_paused = true)]
async fn a_handshake_and_a_head_that_are_never_finished_end_in_time() {
    let plain = Bed::new(GatewayLimits::default()).await;
    let encrypted = Bed::with(GatewayLimits::default(), Some(tls())).await;
    // The beginning of a TLS record, and of a request.
    for (bed, beginnings, most) in [
        (&encrypted, [&b""[..], b"\x16\x03\x01\x02\x00\x01"], 10),
        (&plain, [&b""[..], b"POST /v1/messages HTTP/1.1\r\nhost: g\r\nx-"], 30),
    ] {
        for beginning in beginnings {
            let mut stream = TcpStream::connect(bed.gateway.address()).await.unwrap();
            stream.write_all(beginning).await.unwrap();
            let (_, seconds) = until_it_ends(&mut stream).await;
            assert!(seconds <= most + 1, "{seconds} s after {beginning:?}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_body_that_is_never_finished_ends_in_time_and_used_nothing() {
    let bed = Bed::new(GatewayLimits {
        max_tokens: Some(1_000),
        ..GatewayLimits::default()
    })
    .await;
    for (dialect, path, token) in both() {
        let mut stream = TcpStream::connect(bed.gateway.address()).await.unwrap();
        let whole = request(dialect, &token, path);
        stream.write_all(&whole.as_bytes()[..whole.len() - 1]).await.unwrap();
        let (answer, seconds) = until_it_ends(&mut stream).await;
        assert!(answer.starts_with("HTTP/1.1 408"), "{answer}");
        assert!((290..=310).contains(&seconds), "{seconds} s");
    }
    let usage = bed.usage().await;
    assert_eq!(usage["untoldAtMost"]["tokens"], 0, "{usage}");
    assert_eq!(usage["limitReached"], serde_json::Value::Null);
}

#[tokio::test(start_paused = true)]
async fn a_connection_that_has_asked_may_stay_for_a_while_and_not_for_ever() {
    let bed = Bed::new(GatewayLimits::default()).await;
    let mut stream = TcpStream::connect(bed.gateway.address()).await.unwrap();
    stream
        .write_all(b"GET /healthz HTTP/1.1\r\nhost: g\r\n\r\n")
        .await
        .unwrap();
    let (answer, seconds) = until_it_ends(&mut stream).await;
    assert!(answer.ends_with("ok\n"), "{answer}");
    assert!((60..=91).contains(&seconds), "{seconds} s");
}

#[tokio::test(start_paused = true)]
async fn the_time_for_which_a_rate_holds_a_request_back_is_not_its_own() {
    let bed = Bed::new(GatewayLimits {
        requests_per_minute: Some(1),
        ..GatewayLimits::default()
    })
    .await;
    let (dialect, path, token) = both()[0].clone();
    let mut waiting = Vec::new();
    for _ in 0..8 {
        waiting.push(bed.ask(dialect, &token, path).await);
    }
    let begun = Instant::now();
    for _ in 0..8 {
        let (mut api, _) = bed.api.accept().await.unwrap();
        api.write_all(&ok("m", 1)).await.unwrap();
    }
    for mut stream in waiting {
        assert!(until_it_ends(&mut stream).await.0.starts_with("HTTP/1.1 200"));
    }
    assert!(begun.elapsed().as_secs() >= 7 * 60);
}
