//! The bridge's life: one child, a loopback port, an orderly end.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use mcproctor_proto::server::StdioServer;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;
use tokio::task::{JoinHandle, JoinSet};
use tokio_util::sync::CancellationToken;

use super::child;
use super::error::BridgeError;
use super::http::{Endpoint, PATH};
use super::log::Log;
use super::switchboard::Switchboard;
use crate::tree::Marks;

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
}

impl Default for BridgeOptions {
    fn default() -> Self {
        Self {
            grace: Duration::from_secs(2),
            message_limit: 128 * 1024 * 1024,
            keep_alive: Duration::from_secs(15),
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
    /// The child gets `PATH`, `HOME`, `LANG` and `TMPDIR` of this process and the environment of `server`, and a marker by
    /// which what it starts is found again; nothing else.
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
        let marks = Marks::without_folder();
        let process = child::spawn(server, &marks)?;
        let (to_child, input) = mpsc::unbounded_channel();
        let switchboard = Arc::new(Switchboard::new(Log::new(&server.env), to_child));
        let stop = CancellationToken::new();
        let child = tokio::spawn(child::watch(
            process,
            marks,
            Arc::clone(&switchboard),
            input,
            options.message_limit,
            options.grace,
            stop.clone(),
        ));
        let endpoint = Endpoint {
            switchboard: Arc::clone(&switchboard),
            body_limit: options.message_limit,
            keep_alive: options.keep_alive,
        };
        let serving = tokio::spawn(accept(listener, Arc::new(endpoint), stop.clone()));
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

    /// Closes the port and ends the child with all that it started, in sessions of their own too (on Linux): its input is closed, then SIGTERM, then SIGKILL, each
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

async fn accept(listener: TcpListener, endpoint: Arc<Endpoint>, stop: CancellationToken) {
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            () = stop.cancelled() => break connections.shutdown().await,
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) => {
                    connections.spawn(serve(stream, Arc::clone(&endpoint)));
                }
                // Out of file descriptors, most likely: wait for some to come back.
                Err(_) => tokio::time::sleep(Duration::from_millis(50)).await,
            },
            Some(_) = connections.join_next() => {}
        }
    }
}

async fn serve(stream: TcpStream, endpoint: Arc<Endpoint>) {
    // Without it small events wait for the acknowledgement of the one before; that it cannot be set costs only time.
    let _ = stream.set_nodelay(true);
    let service = service_fn(|request| {
        let endpoint = Arc::clone(&endpoint);
        async move { endpoint.answer(request).await }
    });
    // An error here is the client leaving; the switchboard learns of it from the dropped streams.
    let _ = http1::Builder::new()
        .timer(TokioTimer::new())
        .serve_connection(TokioIo::new(stream), service)
        .await;
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::path::Path;

    use super::*;

    /// A server that starts a process in a session of its own, without its pipes, and writes down its id.
    fn with_daemon(pid: &Path) -> StdioServer {
        let script = r#"setsid sh -c 'echo $$ > "$1.new"; mv "$1.new" "$1"; exec sleep 600' sh "$1" </dev/null >/dev/null 2>&1 &
            exec cat"#;
        StdioServer {
            command: "sh".to_owned(),
            args: ["-c", script, "sh", pid.to_str().unwrap()].map(str::to_owned).to_vec(),
            env: Default::default(),
            cwd: None,
        }
    }

    async fn daemon(pid: &Path) -> u32 {
        let written = async {
            loop {
                match std::fs::read_to_string(pid) {
                    Ok(text) => break text.trim().parse().unwrap(),
                    Err(_) => tokio::time::sleep(Duration::from_millis(5)).await,
                }
            }
        };
        tokio::time::timeout(Duration::from_secs(20), written).await.unwrap()
    }

    /// Gone, or dead and only waiting for its parent to notice.
    fn dead(pid: u32) -> bool {
        std::fs::read_to_string(format!("/proc/{pid}/stat")).map_or(true, |stat| stat.contains(") Z "))
    }

    #[tokio::test]
    async fn what_a_server_started_in_another_session_ends_with_the_bridge() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("pid");
        let bridge = Bridge::start(&with_daemon(&path), BridgeOptions::default())
            .await
            .unwrap();
        let pid = daemon(&path).await;
        assert!(!dead(pid));
        bridge.stop().await;
        assert!(dead(pid));
    }

    #[test]
    fn it_ends_too_when_the_runtime_goes_before_the_bridge_is_stopped() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("pid");
        let runtime = tokio::runtime::Runtime::new().unwrap();
        let (bridge, pid) = runtime.block_on(async {
            let bridge = Bridge::start(&with_daemon(&path), BridgeOptions::default())
                .await
                .unwrap();
            let pid = daemon(&path).await;
            (bridge, pid)
        });
        assert!(!dead(pid));
        drop(runtime);
        drop(bridge);
        assert!(dead(pid));
    }
}
