//! Where the services listen: a Unix socket in a folder that only its owner can enter.

use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::{Path, PathBuf};

use mcproctor_proto::v1::evidence_server::EvidenceServer;
use mcproctor_proto::v1::workers_server::WorkersServer;
use tokio::net::UnixListener;
use tokio::sync::mpsc::Sender;
use tokio::task::JoinHandle;
use tokio_stream::wrappers::UnixListenerStream;
use tokio_util::sync::CancellationToken;
use tonic::transport::Server;

use super::auth::Tokens;
use super::evidence::EvidenceService;
use super::workers::WorkersService;
use crate::scheduler::Input;
use crate::store::Store;

/// The largest message that is taken, in bytes: a turn with many calls at their inline caps.
const LARGEST_MESSAGE: usize = 64 << 20;

/// Why the services could not be offered.
#[derive(Debug, thiserror::Error)]
pub enum RpcError {
    /// The socket could not be made.
    #[error("listen on {}", path.display())]
    Listen {
        /// The socket.
        path: PathBuf,
        /// Why.
        #[source]
        source: std::io::Error,
    },
}

/// The running services; dropping them stops them.
#[derive(Debug)]
pub struct RpcServer {
    socket: PathBuf,
    stop: CancellationToken,
    serving: Option<JoinHandle<Result<(), tonic::transport::Error>>>,
}

impl RpcServer {
    /// Listens on `<dir>/coordinator.sock`; makes `dir`, for its owner only.
    ///
    /// # Errors
    /// When folder or socket cannot be made.
    pub fn on_unix_socket(dir: &Path, tokens: Tokens, inputs: Sender<Input>, store: Store) -> Result<Self, RpcError> {
        let socket = dir.join("coordinator.sock");
        let failed = |source| RpcError::Listen {
            path: socket.clone(),
            source,
        };
        std::fs::DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(dir)
            .map_err(failed)?;
        let listener = UnixListener::bind(&socket).map_err(failed)?;
        std::fs::set_permissions(&socket, std::fs::Permissions::from_mode(0o600)).map_err(failed)?;

        let stop = CancellationToken::new();
        let workers = WorkersServer::new(WorkersService {
            tokens: tokens.clone(),
            inputs,
        })
        .max_decoding_message_size(LARGEST_MESSAGE);
        let evidence = EvidenceServer::new(EvidenceService { tokens, store });
        let serving = tokio::spawn(
            Server::builder()
                .add_service(workers)
                .add_service(evidence)
                .serve_with_incoming_shutdown(UnixListenerStream::new(listener), stop.clone().cancelled_owned()),
        );
        Ok(Self {
            socket,
            stop,
            serving: Some(serving),
        })
    }

    /// The socket's path.
    pub fn socket(&self) -> &Path {
        &self.socket
    }

    /// Stops taking connections and waits until the open ones have ended, `grace` at most.
    pub async fn stop(mut self, grace: std::time::Duration) {
        self.stop.cancel();
        if let Some(serving) = self.serving.take() {
            let abort = serving.abort_handle();
            if tokio::time::timeout(grace, serving).await.is_err() {
                abort.abort();
            }
        }
    }
}

impl Drop for RpcServer {
    fn drop(&mut self) {
        self.stop.cancel();
        if let Some(serving) = &self.serving {
            serving.abort();
        }
        // The folder is the caller's; a socket that is gone already is what is wanted.
        let _ = std::fs::remove_file(&self.socket);
    }
}
