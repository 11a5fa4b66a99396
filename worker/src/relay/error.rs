//! Why a relay could not be started.

use std::io;

/// Why a relay could not be started. No variant holds a credential.
#[derive(Debug, thiserror::Error)]
pub enum RelayError {
    /// The configured base URL cannot be used.
    #[error("use the model API at {url}: {why}")]
    Upstream {
        /// The base URL, without a user name or password.
        url: String,
        /// What is wrong with it.
        why: &'static str,
    },
    /// The credential cannot be sent as a header.
    #[error("use the credential for the model API: it holds characters that no HTTP header may have")]
    Credential,
    /// The command line's own login never leaves the command line, so there is nothing to relay with.
    #[error("relay the command line's own login: it stays with the command line")]
    OwnLogin,
    /// The system holds no usable certificate authority, and the model API is reached over TLS.
    #[error("find certificate authorities in the system's store, which https needs")]
    NoRoots,
    /// The further certificate authorities are none.
    #[error("read the further certificate authorities for the model API: they hold no usable certificate")]
    Authorities,
    /// No loopback port could be had.
    #[error("listen on a loopback port")]
    Listen(#[source] io::Error),
}
