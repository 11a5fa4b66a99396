//! Connections to the server: one per connection of the agent, so that both live and die together.

use std::sync::Arc;

use http::{Request, Response, Uri};
use hyper::body::Incoming;
use hyper::client::conn::{http1, http2};
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::connect::proxy::Tunnel;
use hyper_util::client::legacy::connect::{Connection, HttpConnector};
use hyper_util::client::proxy::matcher::Matcher;
use hyper_util::rt::TokioExecutor;
use tokio::sync::Notify;
use tokio::task::JoinHandle;
use tower::ServiceExt;

use super::body::Outgoing;
use super::error::ProxyError;
use super::target::Target;
use super::tls;

/// Opens connections to one server.
#[derive(Clone)]
pub(super) struct Connector {
    way: Way,
    uri: Uri,
}

#[derive(Clone)]
enum Way {
    Plain(HttpConnector),
    Tls(HttpsConnector<HttpConnector>),
    Tunnel(HttpsConnector<Tunnel<HttpConnector>>),
}

/// Why there is no connection.
pub(super) type ConnectError = Box<dyn std::error::Error + Send + Sync>;

impl Connector {
    /// Sets up the way to `target`.
    ///
    /// # Errors
    /// The certificate authorities cannot be used.
    pub(super) fn new(target: &Target, ca_pem: Option<&str>) -> Result<Self, ProxyError> {
        let mut tcp = HttpConnector::new();
        tcp.enforce_http(false);
        tcp.set_nodelay(true);
        let bad = |_| ProxyError::Target {
            why: "the host is not valid".to_owned(),
        };
        let uri: Uri = format!("{}/", target.origin()).parse().map_err(bad)?;
        if target.scheme == http::uri::Scheme::HTTP {
            return Ok(Self {
                way: Way::Plain(tcp),
                uri,
            });
        }
        let builder = HttpsConnectorBuilder::new()
            .with_tls_config(tls::client_config(ca_pem)?)
            .https_only();
        let builder = builder.enable_all_versions();
        // Loopback is never asked for through a proxy, whatever the environment says.
        let intercept = if is_loopback(&uri) {
            None
        } else {
            Matcher::from_env().intercept(&uri)
        };
        let way = match intercept {
            None => Way::Tls(builder.wrap_connector(tcp)),
            Some(intercept) => {
                let mut tunnel = Tunnel::new(intercept.uri().clone(), tcp);
                if let Some(auth) = intercept.basic_auth() {
                    tunnel = tunnel.with_auth(auth.clone());
                }
                Way::Tunnel(builder.wrap_connector(tunnel))
            }
        };
        Ok(Self { way, uri })
    }

    /// Opens a connection; `closed` is told when the server closes it.
    ///
    /// # Errors
    /// The server cannot be reached, or TLS or the handshake fails.
    pub(super) async fn connect(&self, closed: &Arc<Notify>) -> Result<Link, ConnectError> {
        match &self.way {
            Way::Plain(way) => {
                let io = way.clone().oneshot(self.uri.clone()).await?;
                Link::new(io, closed).await
            }
            Way::Tls(way) => Link::new(way.clone().oneshot(self.uri.clone()).await?, closed).await,
            Way::Tunnel(way) => Link::new(way.clone().oneshot(self.uri.clone()).await?, closed).await,
        }
    }
}

fn is_loopback(uri: &Uri) -> bool {
    let host = uri.host().unwrap_or_default().trim_matches(['[', ']']);
    host == "localhost"
        || host.ends_with(".localhost")
        || host
            .parse::<std::net::IpAddr>()
            .is_ok_and(|address| address.is_loopback())
}

enum Sender {
    Http1(http1::SendRequest<Outgoing>),
    Http2(http2::SendRequest<Outgoing>),
}

/// One connection to the server. Dropped, it is closed at once.
pub(super) struct Link {
    sender: Sender,
    driver: JoinHandle<()>,
}

/// A request that got no answer.
pub(super) struct SendError {
    pub(super) error: hyper::Error,
    /// The request itself, when nothing of it was sent.
    pub(super) unsent: Option<Request<Outgoing>>,
}

impl Link {
    async fn new<T>(io: T, closed: &Arc<Notify>) -> Result<Self, ConnectError>
    where
        T: hyper::rt::Read + hyper::rt::Write + Connection + Unpin + Send + 'static,
    {
        let closed = Arc::clone(closed);
        if io.connected().is_negotiated_h2() {
            let (sender, connection) = http2::handshake(TokioExecutor::new(), io).await?;
            let driver = tokio::spawn(async move {
                // Its error reaches whoever waits for an answer on it.
                let _ = connection.await;
                closed.notify_one();
            });
            return Ok(Self {
                sender: Sender::Http2(sender),
                driver,
            });
        }
        let (sender, connection) = http1::handshake(io).await?;
        let driver = tokio::spawn(async move {
            let _ = connection.await;
            closed.notify_one();
        });
        Ok(Self {
            sender: Sender::Http1(sender),
            driver,
        })
    }

    /// Whether requests carry the whole address instead of a `Host` header.
    pub(super) fn wants_absolute(&self) -> bool {
        matches!(self.sender, Sender::Http2(_))
    }

    /// Waits until the next request can be sent; `false` when the connection is gone.
    pub(super) async fn ready(&mut self) -> bool {
        match &mut self.sender {
            Sender::Http1(sender) => sender.ready().await.is_ok(),
            Sender::Http2(sender) => sender.ready().await.is_ok(),
        }
    }

    /// Sends a request and waits for the head of its answer.
    pub(super) async fn send(&mut self, request: Request<Outgoing>) -> Result<Response<Incoming>, SendError> {
        let result = match &mut self.sender {
            Sender::Http1(sender) => sender.try_send_request(request).await,
            Sender::Http2(sender) => sender.try_send_request(request).await,
        };
        result.map_err(|mut error| {
            let unsent = error.take_message();
            SendError {
                error: error.into_error(),
                unsent,
            }
        })
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        self.driver.abort();
    }
}

/// An error with its causes, in one line.
pub(super) fn reason(error: &(dyn std::error::Error + 'static)) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(inner) = cause {
        let more = inner.to_string();
        if !text.contains(&more) {
            text = format!("{text}: {more}");
        }
        cause = inner.source();
    }
    text
}
