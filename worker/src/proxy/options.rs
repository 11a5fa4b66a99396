//! How one recording proxy is set up.

use std::fmt;
use std::io::Write;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;

use mcproctor_proto::server::HttpServer;

use super::record::CallObserver;
use mcproctor_proto::redact::Redactor;

/// How one recording proxy is set up.
pub struct ProxyOptions {
    /// The configured name of the server; records carry it.
    pub server: String,
    /// Where the server is and what is injected.
    pub upstream: HttpServer,
    /// A loopback address; port 0 takes a free one.
    pub listen: SocketAddr,
    /// Connections that are open at once; further ones wait until one of them ends.
    pub most_connections: usize,
    /// An existing folder of this proxy's own, for the evidence files and for copies that do not fit in memory.
    pub spill_dir: PathBuf,
    /// Largest arguments or result, in bytes, that a [`mcproctor_proto::call::ToolCall`] in memory carries.
    pub inline_cap: usize,
    /// Largest message, in bytes, that is kept and parsed; of larger ones id, error state, size and hash are known.
    pub body_copy_cap: usize,
    /// Keep every call in memory and write the evidence files. Without, only the observer learns of calls.
    pub keep: bool,
    /// Where the headers of every request are written. They contain secrets.
    pub debug_log: Option<Box<dyn Write + Send>>,
    /// What is kept out of the records; `None` for the secrets of `upstream` alone.
    pub(crate) redactor: Option<Arc<Redactor>>,
    /// Told of every call as it starts and ends.
    pub observer: Option<Box<dyn CallObserver>>,
}

impl ProxyOptions {
    /// The usual caps, a free port, any number of connections, everything kept, nobody told.
    pub fn new(server: impl Into<String>, upstream: HttpServer, spill_dir: impl Into<PathBuf>) -> Self {
        Self {
            server: server.into(),
            upstream,
            listen: SocketAddr::from(([127, 0, 0, 1], 0)),
            most_connections: usize::MAX,
            spill_dir: spill_dir.into(),
            inline_cap: 64 * 1024,
            body_copy_cap: 8 * 1024 * 1024,
            keep: true,
            debug_log: None,
            redactor: None,
            observer: None,
        }
    }
}

impl fmt::Debug for ProxyOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The URL may carry a key in its query.
        f.debug_struct("ProxyOptions")
            .field("server", &self.server)
            .field("listen", &self.listen)
            .field("spill_dir", &self.spill_dir)
            .finish_non_exhaustive()
    }
}
