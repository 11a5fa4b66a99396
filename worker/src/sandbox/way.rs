//! The outer half of a way: a Unix socket that leads to a loopback port of the worker's.

use std::io;
use std::net::Ipv4Addr;
use std::os::fd::AsRawFd as _;
use std::path::Path;

use tokio::net::{TcpStream, UnixListener};
use tokio::task::AbortHandle;

use crate::loopback::{ACCEPT_PAUSE, most_connections};

/// Carries, [so many connections](most_connections) at once, until it is dropped.
#[derive(Debug)]
pub(super) struct OuterWay(AbortHandle);

impl Drop for OuterWay {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl OuterWay {
    /// Listens at a new socket called `name` in `folder`. Has to be called inside a tokio runtime.
    pub(super) fn open(folder: &Path, name: &str, port: u16) -> io::Result<Self> {
        let listener = listen(folder, name)?;
        let carrying = tokio::spawn(async move {
            // Ends its connections with it.
            let mut connections = tokio::task::JoinSet::new();
            let most = most_connections();
            loop {
                tokio::select! {
                    accepted = listener.accept(), if connections.len() < most => {
                        let Ok((mut inside, _)) = accepted else {
                            tokio::time::sleep(ACCEPT_PAUSE).await;
                            continue;
                        };
                        connections.spawn(async move {
                            let Ok(mut outside) = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).await else {
                                return;
                            };
                            // A stream of small pieces is not to wait for larger ones.
                            let _ = outside.set_nodelay(true);
                            let _ = tokio::io::copy_bidirectional(&mut inside, &mut outside).await;
                        });
                    }
                    Some(_) = connections.join_next() => {}
                }
            }
        });
        Ok(Self(carrying.abort_handle()))
    }
}

/// A socket's path has room for 108 bytes (unix(7)), fewer than a folder's may have; through its descriptor it is short.
fn listen(folder: &Path, name: &str) -> io::Result<UnixListener> {
    let handle = std::fs::File::open(folder)?;
    UnixListener::bind(format!("/proc/self/fd/{}/{name}", handle.as_raw_fd()))
}
