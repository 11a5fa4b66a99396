//! TLS towards the server, over HTTP/1.1 and HTTP/2.

use std::sync::Arc;

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use mcproctor_proto::call::CallState;
use mcproctor_worker::proxy::Proxy;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio::net::TcpListener;

use crate::wire::{Conn, address_of, call, options, result};

const CA: &str = include_str!("fixtures/ca.pem");

/// Answers calls with the version that they came over; returns its port.
async fn server(protocols: &[&str]) -> u16 {
    let certificate = CertificateDer::from_pem_slice(include_bytes!("fixtures/server.pem")).unwrap();
    let key = PrivateKeyDer::from_pem_slice(include_bytes!("fixtures/server.key")).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = rustls::ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap();
    let mut config = builder
        .with_no_client_auth()
        .with_single_cert(vec![certificate], key)
        .unwrap();
    config.alpn_protocols = protocols.iter().map(|protocol| protocol.as_bytes().to_vec()).collect();
    let acceptor = tokio_rustls::TlsAcceptor::from(Arc::new(config));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    tokio::spawn(async move {
        loop {
            let (stream, _) = listener.accept().await.unwrap();
            let acceptor = acceptor.clone();
            tokio::spawn(async move {
                let Ok(stream) = acceptor.accept(stream).await else {
                    return;
                };
                let service = service_fn(|request: hyper::Request<hyper::body::Incoming>| async move {
                    let version = format!("{:?} for {:?}", request.version(), request.uri().authority());
                    let injected = request.headers().get("x-injected").is_some();
                    request.into_body().collect().await?;
                    let text = result("1", &format!("{} {injected}", version.replace('"', "'")));
                    let mut response = hyper::Response::new(Full::new(Bytes::from(text)));
                    response
                        .headers_mut()
                        .insert("content-type", "application/json".parse().unwrap());
                    Ok::<_, hyper::Error>(response)
                });
                let builder = hyper_util::server::conn::auto::Builder::new(TokioExecutor::new());
                let _ = builder.serve_connection(TokioIo::new(stream), service).await;
            });
        }
    });
    port
}

#[tokio::test]
async fn an_extra_authority_is_trusted_and_the_protocol_is_negotiated() {
    for (protocols, seen) in [(&["h2", "http/1.1"][..], "HTTP/2.0"), (&["http/1.1"], "HTTP/1.1")] {
        let port = server(protocols).await;
        let folder = tempfile::tempdir().unwrap();
        let mut options = options(format!("https://localhost:{port}/mcp"), &[("x-injected", "1")], &folder);
        options.upstream.ca_pem = Some(CA.to_owned());
        let proxy = Proxy::start(options).await.unwrap();
        let mut agent = Conn::connect(address_of(&proxy)).await;
        for _ in 0..3 {
            agent.post("/mcp", "", call("1", "t", "{}")).await;
            let answer = agent.message().await;
            assert!(answer.head.starts_with("HTTP/1.1 200"), "{}", answer.head);
            assert!(
                answer.text().contains(seen) && answer.text().contains("true"),
                "{}",
                answer.text()
            );
        }
        let calls = proxy.calls().await;
        assert_eq!(calls.iter().filter(|call| call.state == CallState::Ok).count(), 3);
    }
}

#[tokio::test]
async fn an_unknown_authority_is_refused_in_words() {
    let port = server(&["http/1.1"]).await;
    let folder = tempfile::tempdir().unwrap();
    let proxy = Proxy::start(options(format!("https://localhost:{port}/mcp"), &[], &folder))
        .await
        .unwrap();
    let mut agent = Conn::connect(address_of(&proxy)).await;
    agent.post("/mcp", "", call("1", "t", "{}")).await;
    let answer = agent.message().await;
    assert_eq!(answer.status(), "502");
    assert!(answer.text().contains("certificate"), "{}", answer.text());
}

#[tokio::test]
async fn a_broken_authority_file_stops_the_start() {
    let folder = tempfile::tempdir().unwrap();
    for pem in ["", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"] {
        let mut options = options("https://localhost/mcp".to_owned(), &[], &folder);
        options.upstream.ca_pem = Some(pem.to_owned());
        let error = Proxy::start(options).await.unwrap_err();
        assert!(
            error.to_string().starts_with("read the extra certificate authorities"),
            "{error}"
        );
    }
}
