//! Connections: accepted, with TLS or without, and let go in order.

use std::sync::Arc;
use std::time::Duration;

use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use rustix::process::{Resource, getrlimit};
use rustls::ServerConfig;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use secrecy::ExposeSecret;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use tokio_rustls::TlsAcceptor;
use tokio_util::sync::CancellationToken;

use super::answer::Desk;
use super::error::GatewayError;
use super::options::GatewayTls;
use crate::descriptors::raise_limit;

/// Connections at once at the most; further ones wait in the system's queue.
const CONNECTIONS: u64 = 4096;
/// File descriptors that are not for connections.
const OTHER_FILES: u64 = 64;
/// How long a handshake may take.
const HANDSHAKE: Duration = Duration::from_secs(10);
/// How long a connection may take to come with its first request: whoever has none holds no place.
const FIRST: Duration = Duration::from_secs(30);
/// How long a connection may stay without a further request. Relays keep theirs for a minute, and none is closed under their hands.
const IDLE: Duration = Duration::from_secs(90);
/// How long to wait when no connection can be accepted: out of file descriptors, most likely, until some come back.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// The server's side of TLS with this certificate.
pub(super) fn acceptor(tls: &GatewayTls) -> Result<TlsAcceptor, GatewayError> {
    let unusable = |why: &dyn std::fmt::Display| GatewayError::Certificate(why.to_string());
    let certificates = CertificateDer::pem_slice_iter(tls.certificate_pem.as_bytes())
        .collect::<Result<Vec<_>, _>>()
        .map_err(|error| unusable(&error))?;
    if certificates.is_empty() {
        return Err(unusable(&"there is none in the file"));
    }
    let key = PrivateKeyDer::from_pem_slice(tls.key_pem.expose_secret().as_bytes())
        .map_err(|_| GatewayError::CertificateKey)?;
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| unusable(&error))?
        .with_no_client_auth()
        .with_single_cert(certificates, key)
        .map_err(|_| GatewayError::CertificateKey)?;
    Ok(TlsAcceptor::from(Arc::new(config)))
}

/// Connections at once: each takes a file descriptor, and one more on the way to its API.
fn places() -> usize {
    raise_limit();
    let files = getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX);
    let places = (files.saturating_sub(OTHER_FILES) / 2).clamp(1, CONNECTIONS);
    usize::try_from(places).unwrap_or(1)
}

/// Accepts connections until `stop`, then lets each end what it has begun. Ends when all have; dropped, it closes them.
pub(super) async fn serve(listener: TcpListener, tls: Option<TlsAcceptor>, desk: Arc<Desk>, stop: CancellationToken) {
    let places = Arc::new(Semaphore::new(places()));
    let mut connections = JoinSet::new();
    loop {
        let next = async {
            let place = Arc::clone(&places).acquire_owned().await;
            (place, listener.accept().await)
        };
        tokio::select! {
            () = stop.cancelled() => break,
            (place, accepted) = next => match accepted {
                Ok((stream, _)) => {
                    let connection = connection(stream, tls.clone(), Arc::clone(&desk), stop.clone());
                    connections.spawn(async move {
                        connection.await;
                        drop(place);
                    });
                }
                Err(_) => tokio::time::sleep(ACCEPT_PAUSE).await,
            },
            Some(_) = connections.join_next() => {}
        }
    }
    drop(listener);
    while connections.join_next().await.is_some() {}
}

async fn connection(stream: TcpStream, tls: Option<TlsAcceptor>, desk: Arc<Desk>, stop: CancellationToken) {
    // Without it small pieces wait for the acknowledgement of the one before; that it cannot be set costs only time.
    let _ = stream.set_nodelay(true);
    let Some(tls) = tls else {
        return speak(stream, desk, stop).await;
    };
    let handshake = tokio::time::timeout(HANDSHAKE, tls.accept(stream));
    // Whoever does not come through it learns so from its own side.
    if let Some(Ok(Ok(stream))) = stop.run_until_cancelled(handshake).await {
        speak(stream, desk, stop).await;
    }
}

async fn speak(stream: impl AsyncRead + AsyncWrite + Unpin, desk: Arc<Desk>, stop: CancellationToken) {
    let come = CancellationToken::new();
    let first = come.clone();
    let answer = service_fn(move |request| {
        first.cancel();
        let desk = Arc::clone(&desk);
        async move { desk.answer(request).await }
    });
    let mut served = std::pin::pin!(
        http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(IDLE)
            .serve_connection(TokioIo::new(stream), answer)
    );
    // An error is one side leaving; whoever answers learns of it from the streams that are dropped.
    let too_late = async {
        if come.run_until_cancelled(tokio::time::sleep(FIRST)).await.is_none() {
            std::future::pending::<()>().await;
        }
    };
    tokio::select! {
        _ = served.as_mut() => {}
        () = too_late => {}
        () = stop.cancelled() => {
            served.as_mut().graceful_shutdown();
            let _ = served.await;
        }
    }
}
