//! Model APIs over TLS, direct and through a proxy.

use std::sync::Arc;
use std::time::Duration;

use http::HeaderValue;
use mcproctor_proto::agent::Credential;
use mcproctor_proto::allowance::Allowance;
use rustls::RootCertStore;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;

use super::{connect, post, read_to_end, read_until, reply};
use crate::relay::connect::{Outbound, Proxy};
use crate::relay::{Dialect, Relay, RelayOptions};

/// An API over TLS that answers one request; returns its port and what it read.
async fn api() -> (u16, tokio::task::JoinHandle<String>) {
    let certificate = include_bytes!("../../../tests/proxy/fixtures/server.pem");
    let key = include_bytes!("../../../tests/proxy/fixtures/server.key");
    let config = rustls::ServerConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(
            vec![CertificateDer::from_pem_slice(certificate).unwrap()],
            PrivateKeyDer::from_pem_slice(key).unwrap(),
        )
        .unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let served = tokio::spawn(async move {
        let (stream, _) = listener.accept().await.unwrap();
        let Ok(mut stream) = TlsAcceptor::from(Arc::new(config)).accept(stream).await else {
            return "no handshake".to_owned();
        };
        let mut request = vec![0; 4096];
        let read = stream.read(&mut request).await.unwrap();
        stream.write_all(&reply("200 OK", "", b"hello")).await.unwrap();
        stream.shutdown().await.unwrap();
        String::from_utf8_lossy(&request[..read]).into_owned()
    });
    (port, served)
}

async fn relay(url: &str, trusted: bool, proxy: Option<Proxy>) -> Relay {
    let mut roots = RootCertStore::empty();
    if trusted {
        let ca = include_bytes!("../../../tests/proxy/fixtures/ca.pem");
        roots.add(CertificateDer::from_pem_slice(ca).unwrap()).unwrap();
    }
    let options = RelayOptions {
        dialect: Dialect::Anthropic,
        upstream: url.parse().unwrap(),
        credential: Credential::ApiKey(super::KEY.to_owned().into()),
        meant: Default::default(),
        silence: Duration::from_secs(10),
        allowance: Allowance::default(),
        ca_pem: None,
        pace: Arc::default(),
    };
    Relay::start_with(options, Outbound::through(Arc::new(roots), proxy).unwrap())
        .await
        .unwrap()
}

#[tokio::test]
async fn an_api_over_tls_is_reached_when_its_certificate_is_trusted() {
    let (port, served) = api().await;
    let relay = relay(&format!("https://localhost:{port}"), true, None).await;
    let mut agent = connect(&relay).await;
    agent.write_all(post("/v1/messages", "{}").as_bytes()).await.unwrap();
    assert!(read_to_end(&mut agent).await.ends_with(b"hello"));
    let request = served.await.unwrap();
    assert!(request.contains(&format!("x-api-key: {}", super::KEY)), "{request}");
    assert!(request.contains(&format!("host: localhost:{port}")), "{request}");
}

#[tokio::test]
async fn an_api_whose_certificate_is_not_trusted_gets_no_key() {
    let (port, served) = api().await;
    let relay = relay(&format!("https://localhost:{port}"), false, None).await;
    let mut agent = connect(&relay).await;
    agent.write_all(post("/v1/messages", "{}").as_bytes()).await.unwrap();
    assert!(read_to_end(&mut agent).await.starts_with(b"HTTP/1.1 502"));
    assert_eq!(served.await.unwrap(), "no handshake");
    let refusal = relay.stop().await.refusal.unwrap();
    assert!(
        refusal.status == 0 && refusal.message.contains("certificate"),
        "{refusal:?}"
    );
}

#[tokio::test]
async fn a_proxy_sees_a_tunnel_and_nothing_inside() {
    let (port, served) = api().await;
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let uri = format!("http://{}", listener.local_addr().unwrap()).parse().unwrap();
    let proxy = tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        let asked = read_until(&mut stream, "\r\n\r\n").await;
        stream.write_all(b"HTTP/1.1 200 OK\r\n\r\n").await.unwrap();
        let mut api = tokio::net::TcpStream::connect(("127.0.0.1", port)).await.unwrap();
        // Ends when either side has left.
        let _ = tokio::io::copy_bidirectional(&mut stream, &mut api).await;
        asked
    });
    let authorization = Some(HeaderValue::from_static("Basic dXNlcjpwYXNz"));
    let relay = relay("https://mcp.test", true, Some(Proxy { uri, authorization })).await;
    let mut agent = connect(&relay).await;
    agent.write_all(post("/v1/messages", "{}").as_bytes()).await.unwrap();
    assert!(read_to_end(&mut agent).await.ends_with(b"hello"));
    relay.stop().await;
    let asked = proxy.await.unwrap();
    assert!(asked.starts_with("CONNECT mcp.test:443 HTTP/1.1\r\n"), "{asked}");
    assert!(
        asked
            .to_ascii_lowercase()
            .contains("proxy-authorization: basic dxnlcjpwyxnz"),
        "{asked}"
    );
    assert!(!asked.contains(super::KEY), "{asked}");
    assert!(served.await.unwrap().contains("host: mcp.test\r\n"));
}
