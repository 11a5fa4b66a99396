//! What stands between an agent and the machine: the part of a sandbox that differs from level to level.

use std::ffi::OsString;
use std::path::PathBuf;

use mcproctor_proto::assignment::SandboxLevel;

use super::ability;
use super::error::SandboxError;
use super::folder::Folder;
#[cfg(target_os = "linux")]
use super::{
    bubblewrap::{self, Bubblewrap},
    container::{self, Container},
    landlock::Abi,
};

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

/// What a wall is put up with.
#[derive(Debug)]
pub(super) enum Means {
    /// Nothing is needed.
    Nothing,
    /// The kernel's Landlock.
    #[cfg(target_os = "linux")]
    Landlock(Abi),
    /// The program.
    #[cfg(target_os = "linux")]
    Bubblewrap(PathBuf),
    /// An engine and an image.
    #[cfg(target_os = "linux")]
    Container(Box<container::Ready>),
}

impl Means {
    /// Those of `level`, if this machine has them. Containers are made of `image`.
    pub(super) fn of(level: SandboxLevel, image: &str) -> Result<Self, SandboxError> {
        let _ = image;
        let means = match level {
            SandboxLevel::Process => Ok(Self::Nothing),
            #[cfg(target_os = "linux")]
            SandboxLevel::Landlock => ability::landlock().map(Self::Landlock),
            #[cfg(target_os = "linux")]
            SandboxLevel::Bubblewrap => bubblewrap::ready().map(Self::Bubblewrap),
            #[cfg(target_os = "linux")]
            SandboxLevel::Container => container::ready(image).map(|ready| Self::Container(Box::new(ready))),
            #[cfg(not(target_os = "linux"))]
            _ => Err(ability::needs_linux()),
        };
        means.map_err(|why| SandboxError::Unavailable { level, why })
    }
}

/// What to execute: a program and its arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct CommandLine {
    pub(super) program: PathBuf,
    pub(super) args: Vec<OsString>,
}

impl Wall {
    /// The wall of what is there, around `folder`.
    pub(super) fn around(folder: &Folder, means: Means) -> Result<Self, SandboxError> {
        // Elsewhere than on Linux nothing is put up in the folder.
        let _ = folder;
        match means {
            Means::Nothing => Ok(Self::Process),
            #[cfg(target_os = "linux")]
            Means::Landlock(abi) => Ok(Self::Landlock { abi, ports: Vec::new() }),
            #[cfg(target_os = "linux")]
            Means::Bubblewrap(program) => Bubblewrap::around(folder, program).map(Self::Bubblewrap),
            #[cfg(target_os = "linux")]
            Means::Container(ready) => {
                Container::around(folder, *ready).map(|container| Self::Container(Box::new(container)))
            }
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
