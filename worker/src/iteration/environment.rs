//! What all attempts of a worker share.

use std::path::PathBuf;
use std::sync::Arc;

use crate::relay::Pace;

/// What all attempts of a worker share.
#[derive(Clone, Debug)]
pub struct Environment {
    /// Where sandboxes and recordings are made. Not under the temporary folder, where codex refuses to run its helpers.
    pub base: PathBuf,
    /// The user's own home, for agents with their own login.
    pub own_home: Option<PathBuf>,
    /// Where `--debug` writes; contains secrets.
    pub debug_log: Option<PathBuf>,
    /// The row in which requests to models stand, where the run has a rate.
    pub pace: Arc<Pace>,
}
