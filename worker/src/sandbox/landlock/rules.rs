//! What an agent may do at this level.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// What an agent may do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(in crate::sandbox) struct Rules {
    /// The version of Landlock whose rights are asked for.
    pub(in crate::sandbox) abi: i32,
    /// Files, and folders with all that is in them. Whatever is not named is closed; a path that does not exist is passed over.
    pub(in crate::sandbox) files: Vec<(PathBuf, FileRight)>,
    /// Ports that it may connect to by TCP, at whatever host. It may bind none.
    pub(in crate::sandbox) ports: Vec<u16>,
}

/// What may be done with a file, or with all that is in a folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(in crate::sandbox) enum FileRight {
    /// Read.
    Read,
    /// Read and execute.
    Run,
    /// Read and write what is there: device files.
    Device,
    /// Everything but making device files.
    Write,
}

/// Sockets that an agent may make.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::sandbox) enum Sockets {
    /// TCP, and pairs of Unix sockets.
    OnlyTcp,
    /// Those that a network namespace holds.
    OfTheNamespace,
}
