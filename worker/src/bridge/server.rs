//! The bridge's life: one child, a loopback port, an orderly end.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use mcproctor_proto::server::StdioServer;
use tokio::net::TcpListener;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use super::child;
use super::error::BridgeError;
use super::http::{Endpoint, PATH};
use super::log::Log;
use super::switchboard::Switchboard;
use crate::loopback;

/// How a bridge behaves.
#[derive(Clone, Debug)]
pub struct BridgeOptions {
    /// How long each step of ending the child may take: writing what is left, exiting after its input was closed, exiting
    /// after SIGTERM. SIGKILL follows.
    pub grace: Duration,
    /// The longest message in either direction, in bytes; 128 MiB by default.
    pub message_limit: usize,
    /// How often a silent event stream gets a comment.
    pub keep_alive: Duration,
    /// By what the processes that the child starts are found when they leave its process group; by nothing by default.
    pub mark: Option<Mark>,
}

/// A variable in the environment of a child and of all that it starts.
#[derive(Clone, Debug)]
pub struct Mark {
    /// Its name.
    pub variable: &'static str,
    /// Its value, never used twice.
    pub value: String,
    /// Kills every process whose variable has the value. Blocks.
    pub kill_all: fn(&str),
}

impl Default for BridgeOptions {
    fn default() -> Self {
        Self {
            grace: Duration::from_secs(2),
            message_limit: 128 * 1024 * 1024,
            keep_alive: Duration::from_secs(15),
            mark: None,
        }
    }
}

/// A stdio server behind a loopback URL. Dropped, it ends its child in the background; see [`Bridge::stop`].
pub struct Bridge {
    address: SocketAddr,
    switchboard: Arc<Switchboard>,
    stop: CancellationToken,
    child: JoinHandle<()>,
    serving: JoinHandle<()>,
}

impl std::fmt::Debug for Bridge {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Bridge")
            .field("address", &self.address)
            .finish_non_exhaustive()
    }
}

impl Bridge {
    /// Starts the server as a child in a process group of its own and opens a loopback port in front of it.
    ///
    /// The child gets `PATH`, `HOME`, `LANG` and `TMPDIR` of this process and the environment of `server`, and
    /// [`BridgeOptions::mark`]; nothing else.
    ///
    /// # Errors
    ///
    /// When the program or its working folder is not there, or no port can be had. That a started program is no MCP server
    /// shows with the first request.
    pub async fn start(server: &StdioServer, options: BridgeOptions) -> Result<Self, BridgeError> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))
            .await
            .map_err(BridgeError::Listen)?;
        let address = listener.local_addr().map_err(BridgeError::Listen)?;
        let process = child::spawn(server, options.mark.as_ref())?;
        let (to_child, input) = mpsc::unbounded_channel();
        let switchboard = Arc::new(Switchboard::new(Log::new(&server.env), to_child));
        let stop = CancellationToken::new();
        let child = tokio::spawn(child::watch(
            process,
            options.mark,
            Arc::clone(&switchboard),
            input,
            options.message_limit,
            options.grace,
            stop.clone(),
        ));
        let endpoint = Arc::new(Endpoint {
            switchboard: Arc::clone(&switchboard),
            body_limit: options.message_limit,
            keep_alive: options.keep_alive,
        });
        let answer = move |request| {
            let endpoint = Arc::clone(&endpoint);
            async move { endpoint.answer(request).await }
        };
        let serving = tokio::spawn(loopback::serve(listener, answer, stop.clone()));
        Ok(Self {
            address,
            switchboard,
            stop,
            child,
            serving,
        })
    }

    /// The URL of the server.
    pub fn url(&self) -> String {
        format!("http://{}{PATH}", self.address)
    }

    /// The end of what the child wrote besides messages: its standard error and lines that were none, up to 64 KiB, with
    /// the values of its environment redacted.
    pub fn log(&self) -> String {
        self.switchboard.log().text()
    }

    /// Why the server is gone, if it is: `server exited with status 1`.
    pub fn gone(&self) -> Option<String> {
        self.switchboard.gone()
    }

    /// Closes the port and ends the child with all that it started, in sessions of their own too if it has a
    /// [`Mark`]: its input is closed, then SIGTERM, then SIGKILL, each
    /// after [`BridgeOptions::grace`]. Returns the log once all of them are gone.
    pub async fn stop(mut self) -> String {
        self.stop.cancel();
        // Both end by themselves within the grace; a panic in one of them must not keep the other from being awaited.
        let _ = (&mut self.child).await;
        let _ = (&mut self.serving).await;
        self.log()
    }
}

impl Drop for Bridge {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}
