//! What an agent is given in place of a server: the recording proxy, and a bridge behind it when the server speaks stdio.

use std::path::Path;

use mcproctor_proto::server::{HttpServer, Server, Transport};

use crate::bridge::{Bridge, BridgeError, BridgeOptions};
use crate::proxy::{Proxy, ProxyError, ProxyOptions};

/// Why a server could not be put in front of an agent.
#[derive(Debug, thiserror::Error)]
pub enum EndpointError {
    /// The recording proxy did not start.
    #[error("start the recording proxy: {0}")]
    Proxy(#[from] ProxyError),
    /// The server's process did not start.
    #[error("start the server: {0}")]
    Bridge(#[from] BridgeError),
}

/// A server as the agent sees it.
#[derive(Debug)]
pub struct Endpoint {
    /// Before the bridge, so that it stops first: fields are dropped in this order.
    pub proxy: Proxy,
    /// Only for a server that speaks stdio.
    pub bridge: Option<Bridge>,
}

impl Endpoint {
    /// Starts the proxy on a port of its own, and the server behind it if it is a child. What is recorded goes into
    /// `spill`, a folder of this endpoint's own; `configure` may change the proxy's further options.
    ///
    /// # Errors
    /// When proxy or server cannot be started.
    pub async fn start(
        server: &Server,
        spill: &Path,
        configure: impl FnOnce(&mut ProxyOptions),
    ) -> Result<Self, EndpointError> {
        let (upstream, bridge) = match &server.transport {
            Transport::Http(http) => (http.clone(), None),
            Transport::Stdio(stdio) => {
                let bridge = Bridge::start(stdio, BridgeOptions::default()).await?;
                let url = bridge.url().to_owned();
                (
                    HttpServer {
                        url,
                        headers: Vec::new(),
                        ca_pem: None,
                    },
                    Some(bridge),
                )
            }
        };
        let mut options = ProxyOptions::new(server.name.clone(), upstream, spill);
        configure(&mut options);
        Ok(Self {
            proxy: Proxy::start(options).await?,
            bridge,
        })
    }
}
