//! What an agent is given in place of a server: the recording proxy, and a bridge behind it when the server speaks stdio.

use std::path::Path;

use mcproctor_proto::server::{HttpServer, Server, Transport};

use crate::bridge::{Bridge, BridgeError, BridgeOptions, Mark};
use crate::loopback::most_connections;
use crate::proxy::{Proxy, ProxyError, ProxyOptions};
use crate::sandbox::{MARKER, Marks};

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
                let bridge = Bridge::start(stdio, bridge_options()).await?;
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
        options.most_connections = most_connections();
        configure(&mut options);
        Ok(Self {
            proxy: Proxy::start(options).await?,
            bridge,
        })
    }
}

/// A bridge whose server leaves nothing running.
fn bridge_options() -> BridgeOptions {
    BridgeOptions {
        mark: Some(Mark {
            variable: MARKER,
            value: format!("server-{}", hex::encode(rand::random::<[u8; 16]>())),
            kill_all: |value| {
                Marks::without_folder(value).kill_all();
            },
        }),
        ..BridgeOptions::default()
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::path::Path;
    use std::time::Duration;

    use mcproctor_proto::server::StdioServer;

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
        let bridge = Bridge::start(&with_daemon(&path), bridge_options()).await.unwrap();
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
            let bridge = Bridge::start(&with_daemon(&path), bridge_options()).await.unwrap();
            let pid = daemon(&path).await;
            (bridge, pid)
        });
        assert!(!dead(pid));
        drop(runtime);
        drop(bridge);
        assert!(dead(pid));
    }
}
