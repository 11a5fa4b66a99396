//! Why a gateway could not be started.

use std::io;
use std::net::SocketAddr;

use super::super::error::RelayError;

/// Why a gateway could not be started. No variant holds a secret.
#[derive(Debug, thiserror::Error)]
pub enum GatewayError {
    /// One of its model APIs cannot be used.
    #[error("set up the model entry {name}")]
    Model {
        /// The entry.
        name: String,
        /// What is wrong with it.
        #[source]
        source: RelayError,
    },
    /// Whoever listens could read tokens and answers on their way.
    #[error("listen on {0} without TLS: that is for loopback addresses only")]
    Unencrypted(SocketAddr),
    /// The certificate file holds none that can be used.
    #[error("read the certificate: {0}")]
    Certificate(String),
    /// The key file holds none that can be used, or one of another certificate.
    #[error("read the certificate's key: it is none, or that of another certificate")]
    CertificateKey,
    /// The address is taken, or not of this machine.
    #[error("listen on {address}")]
    Listen {
        /// The address.
        address: SocketAddr,
        /// What the system said.
        #[source]
        source: io::Error,
    },
}

impl GatewayError {
    /// Whether its config is wrong, and not the machine.
    pub fn is_usage(&self) -> bool {
        match self {
            Self::Model { source, .. } => !matches!(source, RelayError::NoRoots | RelayError::Listen(_)),
            Self::Unencrypted(_) | Self::Certificate(_) | Self::CertificateKey => true,
            Self::Listen { .. } => false,
        }
    }
}
