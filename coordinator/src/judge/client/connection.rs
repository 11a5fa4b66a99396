//! The way to the judge's endpoint.

use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, Request, StatusCode, Uri};
use http_body_util::{BodyExt as _, Full, Limited};
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::client::legacy::connect::proxy::Tunnel;
use hyper_util::client::proxy::matcher::Matcher;
use hyper_util::rt::{TokioExecutor, TokioTimer};
use rustls::{ClientConfig, RootCertStore};
use url::{Host, Url};

use super::error::AskError;

const CONNECT_TIMEOUT: Duration = Duration::from_secs(15);
/// A verdict has a few hundred bytes; what is larger than this is something else.
const MOST_BODY: usize = 4 << 20;

/// A response, read whole.
pub(super) struct Response {
    pub(super) status: StatusCode,
    pub(super) headers: HeaderMap,
    pub(super) body: Bytes,
}

/// A client with connections of its own, direct or through the proxy that the environment names.
#[derive(Clone)]
pub(super) enum Connection {
    Direct(Client<HttpsConnector<HttpConnector>, Full<Bytes>>),
    Tunnel(Client<HttpsConnector<Tunnel<HttpConnector>>, Full<Bytes>>),
}

impl Connection {
    /// The way to `url`, with the system's certificate authorities for https.
    pub(super) fn new(url: &Url) -> Result<Self, AskError> {
        let mut tcp = HttpConnector::new();
        tcp.enforce_http(false);
        tcp.set_nodelay(true);
        tcp.set_connect_timeout(Some(CONNECT_TIMEOUT));
        let connector = HttpsConnectorBuilder::new()
            .with_tls_config(tls(url.scheme() == "https")?)
            .https_or_http()
            .enable_http1();
        let mut client = Client::builder(TokioExecutor::new());
        client
            .pool_timer(TokioTimer::new())
            .pool_idle_timeout(Duration::from_secs(30));
        Ok(match proxy_before(url) {
            Some(proxy) => {
                let mut tunnel = Tunnel::new(proxy.uri().clone(), tcp);
                if let Some(authorization) = proxy.basic_auth() {
                    tunnel = tunnel.with_auth(authorization.clone());
                }
                Self::Tunnel(client.build(connector.wrap_connector(tunnel)))
            }
            None => Self::Direct(client.build(connector.wrap_connector(tcp))),
        })
    }

    /// Sends a request and reads the response to its end.
    pub(super) async fn send(&self, request: Request<Full<Bytes>>) -> Result<Response, AskError> {
        let response = match self {
            Self::Direct(client) => client.request(request).await,
            Self::Tunnel(client) => client.request(request).await,
        };
        let (parts, body) = response
            .map_err(|error| AskError::Unreachable(innermost(&error)))?
            .into_parts();
        let body = Limited::new(body, MOST_BODY)
            .collect()
            .await
            .map_err(|error| AskError::Unreachable(format!("its answer broke off: {}", innermost(error.as_ref()))))?;
        Ok(Response {
            status: parts.status,
            headers: parts.headers,
            body: body.to_bytes(),
        })
    }
}

/// The last of the causes: those before it only say that a client failed.
fn innermost(error: &(dyn Error + 'static)) -> String {
    let mut error = error;
    while let Some(source) = error.source() {
        error = source;
    }
    error.to_string()
}

/// The proxy for https: `HTTPS_PROXY`, `ALL_PROXY` and `NO_PROXY`, never for loopback.
fn proxy_before(url: &Url) -> Option<hyper_util::client::proxy::matcher::Intercept> {
    let loopback = match url.host()? {
        Host::Domain(name) => name == "localhost",
        Host::Ipv4(address) => address.is_loopback(),
        Host::Ipv6(address) => address.is_loopback(),
    };
    if url.scheme() != "https" || loopback {
        return None;
    }
    let uri: Uri = url.as_str().parse().ok()?;
    Matcher::from_env().intercept(&uri)
}

fn tls(needed: bool) -> Result<ClientConfig, AskError> {
    let mut roots = RootCertStore::empty();
    if needed {
        // Single certificates that cannot be read are common in system stores; the rest still serves.
        roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
        if roots.is_empty() {
            return Err(AskError::NoWay("the system has no certificate authorities"));
        }
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|_| AskError::NoWay("the TLS library has no protocol versions"))?;
    Ok(builder.with_root_certificates(roots).with_no_client_auth())
}
