//! The gateway's life: an address, connections, an orderly end.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Duration;

use tokio::net::TcpListener;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use super::super::connect::Outbound;
use super::super::credential::Key;
use super::super::endpoint::Upstream;
use super::super::error::RelayError;
use super::super::forward::Route;
use super::super::pace::Pace;
use super::super::purse::Purse;
use super::answer::Desk;
use super::error::GatewayError;
use super::listen::{acceptor, serve};
use super::options::{GatewayModel, GatewayOptions};

/// A running gateway. Dropped, it closes its port and every connection.
#[derive(Debug)]
pub struct Gateway {
    address: SocketAddr,
    stop: CancellationToken,
    serving: JoinHandle<()>,
}

impl Gateway {
    /// Opens the port and passes on what comes with a good token.
    ///
    /// # Errors
    /// When a model API, its credential or the certificate cannot be used, or the address cannot be listened on. Nothing is
    /// opened then. Whether the APIs can be reached shows with the first request.
    pub async fn start(options: GatewayOptions) -> Result<Self, GatewayError> {
        let address = options.listen;
        if options.tls.is_none() && !address.ip().is_loopback() {
            return Err(GatewayError::Unencrypted(address));
        }
        let tls = options.tls.as_ref().map(acceptor).transpose()?;
        let route = |(name, model): (&String, &GatewayModel)| match route(model) {
            Ok(route) => Ok((name.clone(), Arc::new(route))),
            Err(source) => Err(GatewayError::Model {
                name: name.clone(),
                source,
            }),
        };
        let routes = options.models.iter().map(route).collect::<Result<_, _>>()?;
        let limits = options.limits;
        let purse = Purse::of_all(limits.max_tokens, limits.max_cost_usd, options.price_of);
        let desk = Arc::new(Desk {
            token_key: options.token_key,
            routes,
            limits,
            purse: Arc::new(purse),
            pace: Arc::new(Pace::default()),
            leases: Default::default(),
            now_unix_s: options.now_unix_s,
            refused: AtomicU64::default(),
        });
        let taken = |source| GatewayError::Listen { address, source };
        let listener = TcpListener::bind(address).await.map_err(taken)?;
        let address = listener.local_addr().map_err(taken)?;
        let stop = CancellationToken::new();
        let serving = tokio::spawn(serve(listener, tls, desk, stop.clone()));
        Ok(Self { address, stop, serving })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Closes the port, lets open answers come to their end for so long, and then closes what is left. Whether all had ended.
    pub async fn drain(mut self, patience: Duration) -> bool {
        self.stop.cancel();
        tokio::time::timeout(patience, &mut self.serving).await.is_ok()
    }
}

impl Drop for Gateway {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

fn route(model: &GatewayModel) -> Result<Route, RelayError> {
    let upstream = Upstream::new(model.dialect, &model.upstream)?;
    Ok(Route {
        dialect: model.dialect,
        outbound: Outbound::new(&upstream, None)?,
        key: Arc::new(Key::new(model.dialect, &model.credential)?),
        upstream,
    })
}
