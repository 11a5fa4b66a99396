//! What is left of an attempt once nothing of it runs any more.

use std::io::{Error, ErrorKind};
use std::path::PathBuf;
use std::sync::Arc;

use mcproctor_proto::call::ToolCall;
use mcproctor_proto::evidence::EvidenceKind;
use mcproctor_proto::exposure::Exposure;
use mcproctor_proto::request::McpRequest;
use mcproctor_proto::traffic::ModelTraffic;
use tempfile::TempDir;

use crate::link::{LinkError, Piece, piece};
use crate::proxy::ProxyError;
use crate::sandbox::Sandbox;
use mcproctor_proto::redact::Redactor;

/// Why what was recorded could not be gathered.
#[derive(Debug, thiserror::Error)]
pub(super) enum TakeDownError {
    #[error("finish the recording: {0}")]
    Proxy(#[from] ProxyError),
    #[error("{0}")]
    Evidence(#[from] LinkError),
    #[error("take the secrets out of what the agent printed: {0}")]
    Redaction(Error),
    #[error("gather what was recorded: {0}")]
    Panicked(#[from] tokio::task::JoinError),
}

/// A seat where nothing runs any more. What was recorded is still to be gathered.
pub(super) struct Cleared {
    pub(super) sandbox: Sandbox,
    pub(super) redactor: Arc<Redactor>,
    pub(super) calls: Vec<ToolCall>,
    pub(super) requests: Vec<McpRequest>,
    pub(super) exposures: Vec<Exposure>,
    pub(super) traffic: ModelTraffic,
    pub(super) files: Vec<(EvidenceKind, PathBuf)>,
    pub(super) folder: TempDir,
}

/// What was recorded, ready to be uploaded.
pub(super) struct Records {
    pub(super) calls: Vec<ToolCall>,
    pub(super) requests: Vec<McpRequest>,
    pub(super) exposures: Vec<Exposure>,
    pub(super) traffic: ModelTraffic,
    pub(super) pieces: Vec<Piece>,
    /// Holds the files of the pieces until they are uploaded.
    pub(super) folder: TempDir,
}

impl Cleared {
    /// Removes the sandbox, takes the secrets out of what the agent printed, and names the pieces of evidence.
    pub(super) async fn gather(self) -> Result<Records, TakeDownError> {
        let Self {
            sandbox,
            redactor,
            calls,
            requests,
            exposures,
            traffic,
            files,
            folder,
        } = self;
        let gathering = tokio::task::spawn_blocking(move || {
            // An agent's home may hold thousands of files.
            drop(sandbox);
            let mut pieces = Vec::new();
            for (kind, path) in files {
                // What the proxy recorded is without secrets already; what the agent printed may repeat what a tool told it.
                if matches!(kind, EvidenceKind::Transcript | EvidenceKind::Stderr) {
                    match redactor.file(&path) {
                        // An agent that was never started has printed nothing.
                        Err(error) if error.kind() == ErrorKind::NotFound => {}
                        other => other.map_err(TakeDownError::Redaction)?,
                    }
                }
                pieces.extend(piece(kind, &path)?);
            }
            Ok::<_, TakeDownError>(pieces)
        });
        Ok(Records {
            calls,
            requests,
            exposures,
            traffic,
            pieces: gathering.await??,
            folder,
        })
    }
}
