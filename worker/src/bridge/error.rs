//! Why a bridge could not be started.

use std::io;
use std::path::PathBuf;

/// Why a bridge could not be started.
#[derive(Debug, thiserror::Error)]
pub enum BridgeError {
    /// The program could not be started.
    #[error("start the MCP server `{command}`")]
    Spawn {
        /// The program, without its arguments.
        command: String,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// The working folder is not there.
    #[error("start the MCP server: its working folder {} does not exist", .0.display())]
    WorkingFolder(PathBuf),
    /// No loopback port could be had.
    #[error("listen on a loopback port")]
    Listen(#[source] io::Error),
}
