//! Why a proxy does not start.

use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;

/// Why a recording proxy could not be started or finished. No message repeats a secret.
#[derive(Debug, thiserror::Error)]
pub enum ProxyError {
    /// The server's URL cannot be proxied.
    #[error("use the server's URL: {why}")]
    Target {
        /// What is wrong with it.
        why: String,
    },
    /// A configured header cannot be sent.
    #[error("inject the header `{name}`: {why}")]
    Header {
        /// Its name; its value is never shown.
        name: String,
        /// What is wrong with it.
        why: &'static str,
    },
    /// The extra certificate authorities cannot be read.
    #[error("read the extra certificate authorities: {0}")]
    CaFile(String),
    /// TLS cannot be set up.
    #[error("set up TLS: {0}")]
    Tls(#[source] rustls::Error),
    /// Only loopback addresses are listened on.
    #[error("listen on {0}: not a loopback address")]
    NotLoopback(SocketAddr),
    /// The address is taken or not allowed.
    #[error("listen on {address}")]
    Listen {
        /// Where.
        address: SocketAddr,
        /// Why not.
        #[source]
        source: io::Error,
    },
    /// The recording's files cannot be written.
    #[error("write the recording to {}", path.display())]
    Files {
        /// Which file or folder.
        path: PathBuf,
        /// Why not.
        #[source]
        source: io::Error,
    },
    /// The recorder's thread cannot be started, or ended by a panic.
    #[error("run the recorder: {0}")]
    Recorder(String),
}

impl ProxyError {
    /// Whether the options are wrong, rather than the machine.
    pub fn is_usage(&self) -> bool {
        matches!(
            self,
            Self::Target { .. } | Self::Header { .. } | Self::CaFile(_) | Self::NotLoopback(_) | Self::Listen { .. }
        )
    }
}
