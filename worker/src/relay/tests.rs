#![allow(clippy::unwrap_used, clippy::panic)]
//! A relay between raw sockets: what one side writes is what the other side reads.

use std::sync::Arc;
use std::time::Duration;

use mcproctor_proto::agent::Credential;
use mcproctor_proto::allowance::Allowance;
use mcproctor_proto::traffic::ModelTraffic;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use super::{Dialect, Relay, RelayOptions};

mod gateway;
mod hostile;
mod limits;
mod pass;
mod tls;
mod untold;
mod usage;

const KEY: &str = "sentinel-key-4711";

async fn relay(dialect: Dialect, upstream: &str) -> Relay {
    relay_with(dialect, upstream, Allowance::default()).await
}

async fn relay_with(dialect: Dialect, upstream: &str, allowance: Allowance) -> Relay {
    let credential = Credential::ApiKey(KEY.to_owned().into());
    let upstream = upstream.parse().unwrap();
    Relay::start(RelayOptions {
        dialect,
        upstream,
        credential,
        meant: Default::default(),
        silence: Duration::from_secs(10),
        allowance,
        ca_pem: None,
        pace: Arc::default(),
    })
    .await
    .unwrap()
}

async fn upstream() -> (TcpListener, String) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    (listener, url)
}

async fn connect(relay: &Relay) -> TcpStream {
    TcpStream::connect(relay.base_url().trim_start_matches("http://").trim_end_matches("/v1"))
        .await
        .unwrap()
}

/// Reads until `text` has come.
async fn read_until(stream: &mut TcpStream, text: &str) -> String {
    let mut all = Vec::new();
    while !String::from_utf8_lossy(&all).contains(text) {
        let mut piece = [0; 4096];
        let read = tokio::time::timeout(Duration::from_secs(10), stream.read(&mut piece))
            .await
            .unwrap()
            .unwrap();
        assert!(read > 0, "ended after {:?}", String::from_utf8_lossy(&all));
        all.extend_from_slice(&piece[..read]);
    }
    String::from_utf8_lossy(&all).into_owned()
}

async fn read_to_end(stream: &mut TcpStream) -> Vec<u8> {
    let mut all = Vec::new();
    // A reset is an end, too.
    let _ = tokio::time::timeout(Duration::from_secs(10), stream.read_to_end(&mut all))
        .await
        .unwrap();
    all
}

fn post(path: &str, body: &str) -> String {
    format!(
        "POST {path} HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: Bearer dummy\r\nx-api-key: dummy\r\n\
         content-type: application/json\r\naccept-encoding: gzip, br\r\n\
         anthropic-version: 2023-06-01\r\nx-own: dummy\r\nx-http-method-override: dummy\r\nconnection: close\r\n\
         content-length: {}\r\n\r\n{body}",
        body.len()
    )
}

/// One request through the relay, answered with these bytes by the API: what the API read and what the agent read.
async fn exchange(relay: &Relay, listener: &TcpListener, path: &str, reply: &[u8]) -> (String, Vec<u8>) {
    let mut agent = connect(relay).await;
    agent
        .write_all(post(path, "{\"model\":\"m\"}").as_bytes())
        .await
        .unwrap();
    let (mut api, _) = listener.accept().await.unwrap();
    let request = read_until(&mut api, "{\"model\":\"m\"}").await;
    api.write_all(reply).await.unwrap();
    drop(api);
    (request, read_to_end(&mut agent).await)
}

fn reply(status: &str, headers: &str, body: &[u8]) -> Vec<u8> {
    let head = format!(
        "HTTP/1.1 {status}\r\n{headers}content-length: {}\r\nconnection: close\r\n\r\n",
        body.len()
    );
    [head.as_bytes(), body].concat()
}

async fn settled(relay: &Relay) -> ModelTraffic {
    for _ in 0..500 {
        if relay.open_requests() == 0 {
            return relay.traffic();
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("a request stayed open");
}
