//! The ways out of a sandbox without a network: from constant ports inside, over Unix sockets, to ports of the worker's.

use std::io;
use std::path::{Path, PathBuf};

use super::error::SandboxError;
use super::plan::Way;
use super::way::OuterWay;

/// The first port at which agents find proxies and relay. Always the same, so that what a model is told is, too.
const FIRST_PORT: u16 = 8101;

/// Where the sockets lie inside.
pub(super) const INSIDE: &str = "/run/mcproctor/ways";

/// The outer halves of the ways of one sandbox.
#[derive(Debug)]
pub(super) struct Ways {
    /// Where the sockets lie.
    folder: PathBuf,
    /// In the order of their ports.
    open: Vec<OuterWay>,
}

impl Ways {
    /// None yet; their sockets will lie in `folder`.
    pub(super) fn through(folder: PathBuf) -> Self {
        Self {
            folder,
            open: Vec::new(),
        }
    }

    /// Where the sockets lie.
    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Opens a way to a loopback port. Gives the port inside, and the socket that leads there.
    pub(super) fn open(&mut self, port: u16) -> Result<(u16, PathBuf), SandboxError> {
        let index = u16::try_from(self.open.len()).unwrap_or(u16::MAX);
        let inside = FIRST_PORT
            .checked_add(index)
            .ok_or_else(|| SandboxError::Way(io::Error::other("there are too many")))?;
        let name = inside.to_string();
        let way = OuterWay::open(&self.folder, &name, port).map_err(SandboxError::Way)?;
        self.open.push(way);
        Ok((inside, self.folder.join(name)))
    }

    /// What has to listen inside.
    pub(super) fn plan(&self) -> Vec<Way> {
        let ports = (FIRST_PORT..).take(self.open.len());
        ports
            .map(|port| Way {
                port,
                socket: Path::new(INSIDE).join(port.to_string()),
            })
            .collect()
    }
}
