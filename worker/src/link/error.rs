//! Why a worker cannot go on.

/// Why a worker's link ended, or an upload failed.
#[derive(Debug, thiserror::Error)]
pub enum LinkError {
    /// The coordinator cannot be reached.
    #[error("reach the coordinator")]
    Unreachable(#[source] tonic::transport::Error),
    /// The coordinator refused a call.
    #[error("talk to the coordinator: {}", .0.message())]
    Refused(#[from] tonic::Status),
    /// The coordinator said something that this version cannot read.
    #[error("{0}")]
    Malformed(#[from] mcproctor_proto::wire::Malformed),
    /// A piece of evidence cannot be read.
    #[error("read the evidence {path}")]
    Evidence {
        /// The file.
        path: String,
        /// Why.
        #[source]
        source: std::io::Error,
    },
    /// The token cannot be sent.
    #[error("use the token: it has characters that a header cannot hold")]
    Token,
}
