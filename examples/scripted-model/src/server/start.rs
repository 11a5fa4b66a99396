//! Starting and stopping.

use super::answer::router;
use super::shared::{Observer, Shared};
use crate::record::RequestRecord;
use crate::scenario::Scenarios;
use axum::serve::ListenerExt as _;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use tokio::net::TcpListener;

/// Why the endpoint does not start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The listener has no address.
    #[error("listen: {0}")]
    Listener(#[from] io::Error),
    /// The listener can be reached from other machines.
    #[error("listen on {0}: a scripted model listens on loopback only")]
    NotLoopback(SocketAddr),
}

/// A running endpoint. Dropping it ends it, with every connection it holds.
#[derive(Debug)]
pub struct ScriptedModel {
    address: SocketAddr,
    shared: Arc<Shared>,
}

impl ScriptedModel {
    /// Starts to answer on the listener; has to be called inside a tokio runtime.
    ///
    /// # Errors
    /// The listener's address is unknown, or not a loopback address.
    pub fn start(listener: TcpListener, scenarios: Scenarios) -> Result<Self, StartError> {
        Self::start_observed(listener, scenarios, |_| {})
    }

    /// Like [`start`](Self::start), and tells `observer` of every request before it is answered.
    ///
    /// # Errors
    /// As `start`.
    pub fn start_observed(
        listener: TcpListener,
        scenarios: Scenarios,
        observer: impl FnMut(&RequestRecord) + Send + 'static,
    ) -> Result<Self, StartError> {
        let address = listener.local_addr()?;
        if !address.ip().is_loopback() {
            return Err(StartError::NotLoopback(address));
        }
        let observer: Observer = Box::new(observer);
        let shared = Arc::new(Shared::new(scenarios, observer));
        let stopped = shared.stopped.clone().cancelled_owned();
        let listener = listener.tap_io(|stream| drop(stream.set_nodelay(true)));
        let server = axum::serve(listener, router(Arc::clone(&shared))).with_graceful_shutdown(stopped);
        // The token ends the task; it never fails, so that nothing is lost with its handle.
        tokio::spawn(server.into_future());
        Ok(Self { address, shared })
    }

    /// Where the endpoint answers, without a trailing slash and without `/v1`.
    #[must_use]
    pub fn base_url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// The requests so far, oldest first, at most the newest 10,000.
    #[must_use]
    pub fn requests(&self) -> Vec<RequestRecord> {
        self.shared.requests()
    }
}

impl Drop for ScriptedModel {
    fn drop(&mut self) {
        self.shared.stopped.cancel();
    }
}
