//! Why an evaluation could not be carried through.

use crate::judge::JudgeError;
use crate::report::ReportError;
use crate::rpc::RpcError;
use crate::store::StoreError;

/// Why an evaluation could not be carried through.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The store failed; what it acknowledged is safe.
    #[error("{0}")]
    Store(#[from] StoreError),
    /// The services could not be offered.
    #[error("{error}: {}", source_of(.error))]
    Rpc {
        /// Why.
        #[from]
        error: RpcError,
    },
    /// The reports could not be written; the results are in the store.
    #[error("{0}; the results are in the store")]
    Report(#[from] ReportError),
    /// There is no way to the judge.
    #[error("{0}")]
    Judge(#[from] JudgeError),
    /// A folder could not be made.
    #[error("make a folder for the coordinator's socket: {0}")]
    Folder(std::io::Error),
    /// There is no such run to go on with.
    #[error("resume: {0}")]
    Resume(String),
    /// There is nothing to judge.
    #[error("grade: {0}")]
    Grade(String),
    /// The schedule's own code failed.
    #[error("run the schedule: {0}")]
    Schedule(tokio::task::JoinError),
}

fn source_of(error: &RpcError) -> String {
    std::error::Error::source(error)
        .map(ToString::to_string)
        .unwrap_or_default()
}
