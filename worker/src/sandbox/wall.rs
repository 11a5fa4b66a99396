//! What stands between an agent and the machine: the part of a sandbox that differs from level to level.

use std::ffi::OsString;
use std::path::PathBuf;

use mcproctor_proto::assignment::SandboxLevel;

use super::ability::ability;
use super::error::SandboxError;
use super::folder::Folder;
#[cfg(target_os = "linux")]
use super::{bubblewrap::Bubblewrap, container::Container, landlock::Abi};

/// The wall of one sandbox.
#[derive(Debug)]
pub(super) enum Wall {
    /// None but the process tree.
    Process,
    /// Rules of the kernel.
    #[cfg(target_os = "linux")]
    Landlock {
        /// What the kernel can do.
        abi: Abi,
        /// Ports that lead to the proxies and the relay.
        ports: Vec<u16>,
    },
    /// Namespaces.
    #[cfg(target_os = "linux")]
    Bubblewrap(Bubblewrap),
    /// A container.
    #[cfg(target_os = "linux")]
    Container(Box<Container>),
}

/// What to execute: a program and its arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct CommandLine {
    pub(super) program: PathBuf,
    pub(super) args: Vec<OsString>,
}

impl Wall {
    /// Refuses a level that this machine does not have, before anything is made.
    pub(super) fn check(level: SandboxLevel, image: &str) -> Result<(), SandboxError> {
        ability(level, image)
            .map(drop)
            .map_err(|why| SandboxError::Unavailable { level, why })
    }

    /// The wall of `level` around `folder`. A container is made of `image`.
    pub(super) fn of(level: SandboxLevel, image: &str, folder: &Folder) -> Result<Self, SandboxError> {
        let unavailable = |why| SandboxError::Unavailable { level, why };
        // Elsewhere than on Linux nothing is put up in the folder.
        let _ = (folder, image);
        match level {
            SandboxLevel::Process => Ok(Self::Process),
            #[cfg(target_os = "linux")]
            SandboxLevel::Landlock => super::ability::landlock()
                .map(|abi| Self::Landlock { abi, ports: Vec::new() })
                .map_err(unavailable),
            #[cfg(target_os = "linux")]
            SandboxLevel::Bubblewrap => {
                let program = super::bubblewrap::ready().map_err(unavailable)?;
                Bubblewrap::around(folder, program).map(Self::Bubblewrap)
            }
            #[cfg(target_os = "linux")]
            SandboxLevel::Container => {
                let ready = super::container::ready(image).map_err(unavailable)?;
                Container::around(folder, ready).map(|container| Self::Container(Box::new(container)))
            }
            #[cfg(not(target_os = "linux"))]
            _ => Err(unavailable(super::ability::needs_linux())),
        }
    }

    /// Lets the agent reach what listens at this port of the loopback interface. Gives the port at which it finds it.
    pub(super) fn open_way(&mut self, port: u16) -> Result<u16, SandboxError> {
        match self {
            Self::Process => Ok(port),
            #[cfg(target_os = "linux")]
            Self::Landlock { ports, .. } => {
                ports.push(port);
                Ok(port)
            }
            #[cfg(target_os = "linux")]
            Self::Bubblewrap(bubblewrap) => bubblewrap.open_way(port),
            #[cfg(target_os = "linux")]
            Self::Container(container) => container.open_way(port),
        }
    }

    /// Who has to own the agent's files, by user and group, if not the worker's user.
    pub(super) fn owner(&self) -> Option<(u32, u32)> {
        match self {
            #[cfg(target_os = "linux")]
            Self::Container(container) => container.owner(),
            _ => None,
        }
    }
}
