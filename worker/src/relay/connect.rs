//! The way out to the model API.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use http::{HeaderValue, Request, Response, Uri};
use http_body::Body;
use hyper::body::Incoming;
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::client::legacy::connect::proxy::Tunnel;
use hyper_util::client::legacy::{Client, Error};
use hyper_util::client::proxy::matcher::Matcher;
use hyper_util::rt::{TokioExecutor, TokioTimer};
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls::{ClientConfig, RootCertStore};

use super::endpoint::Upstream;
use super::error::RelayError;
use super::overhear::Overheard;

const CONNECT_TIMEOUT: Duration = Duration::from_secs(30);

/// A client of the model API, direct or through the proxy that the environment names.
#[derive(Clone)]
pub(super) enum Outbound<B = Overheard> {
    Direct(Client<HttpsConnector<HttpConnector>, B>),
    Tunnel(Client<HttpsConnector<Tunnel<HttpConnector>>, B>),
}

impl<B> Outbound<B>
where
    B: Body + Send + Unpin + 'static,
    B::Data: Send,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    /// The way to this API, with the system's certificate authorities and those of `ca_pem`, and the environment's proxy.
    pub(super) fn new(upstream: &Upstream, ca_pem: Option<&str>) -> Result<Self, RelayError> {
        let roots = match ca_pem {
            _ if !upstream.https() => Arc::new(RootCertStore::empty()),
            None => system_roots()?,
            Some(pem) => with_authorities(pem)?,
        };
        Self::through(roots, proxy_before(upstream))
    }

    /// A way with these certificate authorities, and through this proxy if there is one.
    pub(super) fn through(roots: Arc<RootCertStore>, proxy: Option<Proxy>) -> Result<Self, RelayError> {
        let mut tcp = HttpConnector::new();
        tcp.enforce_http(false);
        tcp.set_nodelay(true);
        tcp.set_connect_timeout(Some(CONNECT_TIMEOUT));
        // HTTP/1.1 only: a relay has few requests at once, and an aborted one then closes its connection upstream.
        let connector = HttpsConnectorBuilder::new()
            .with_tls_config(configuration(roots)?)
            .https_or_http()
            .enable_http1();
        let mut client = Client::builder(TokioExecutor::new());
        client
            .pool_timer(TokioTimer::new())
            .pool_idle_timeout(Duration::from_secs(60));
        Ok(match proxy {
            Some(proxy) => {
                let mut tunnel = Tunnel::new(proxy.uri, tcp);
                if let Some(authorization) = proxy.authorization {
                    tunnel = tunnel.with_auth(authorization);
                }
                Self::Tunnel(client.build(connector.wrap_connector(tunnel)))
            }
            None => Self::Direct(client.build(connector.wrap_connector(tcp))),
        })
    }

    pub(super) async fn send(&self, request: Request<B>) -> Result<Response<Incoming>, Error> {
        match self {
            Self::Direct(client) => client.request(request).await,
            Self::Tunnel(client) => client.request(request).await,
        }
    }
}

/// A proxy that opens tunnels by CONNECT.
pub(super) struct Proxy {
    pub(super) uri: Uri,
    pub(super) authorization: Option<HeaderValue>,
}

/// The proxy for https upstreams: `HTTPS_PROXY`, `ALL_PROXY` and `NO_PROXY`, never for loopback.
fn proxy_before(upstream: &Upstream) -> Option<Proxy> {
    if !upstream.https() || upstream.loopback() {
        return None;
    }
    let intercept = Matcher::from_env().intercept(&upstream.origin().ok()?)?;
    Some(Proxy {
        uri: intercept.uri().clone(),
        authorization: intercept.basic_auth().cloned(),
    })
}

/// The system's certificate authorities, read once a process: every attempt has a relay of its own.
fn system_roots() -> Result<Arc<RootCertStore>, RelayError> {
    static ROOTS: OnceLock<Arc<RootCertStore>> = OnceLock::new();
    let roots = ROOTS.get_or_init(|| {
        let mut roots = RootCertStore::empty();
        // Single certificates that cannot be read are common in system stores; the rest still serves.
        roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
        Arc::new(roots)
    });
    if roots.is_empty() {
        Err(RelayError::NoRoots)
    } else {
        Ok(Arc::clone(roots))
    }
}

/// The system's authorities, if there are any, and these.
fn with_authorities(pem: &str) -> Result<Arc<RootCertStore>, RelayError> {
    let mut roots = system_roots().map_or_else(|_| RootCertStore::empty(), |roots| RootCertStore::clone(&roots));
    let before = roots.len();
    for certificate in CertificateDer::pem_slice_iter(pem.as_bytes()) {
        let certificate = certificate.map_err(|_| RelayError::Authorities)?;
        roots.add(certificate).map_err(|_| RelayError::Authorities)?;
    }
    if roots.len() == before {
        return Err(RelayError::Authorities);
    }
    Ok(Arc::new(roots))
}

fn configuration(roots: Arc<RootCertStore>) -> Result<ClientConfig, RelayError> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
    // Fails only for a provider without cipher suites.
    Ok(builder
        .map_err(|_| RelayError::NoRoots)?
        .with_root_certificates(roots)
        .with_no_client_auth())
}
