//! One sandbox of this level.

use std::path::{Path, PathBuf};

use super::way::OuterWay;
use super::{arguments, etc};
use crate::sandbox::confined;
use crate::sandbox::error::SandboxError;
use crate::sandbox::folder::Folder;
use crate::sandbox::launcher::Launcher;
use crate::sandbox::plan::{Kind, OwnLimits, Plan, Way};
use crate::sandbox::spec::Spec;
use crate::sandbox::view::View;
use crate::sandbox::wall::CommandLine;

/// The first port at which agents find proxies and relay. Always the same, so that what a model is told is, too.
const FIRST_PORT: u16 = 8101;

/// The walls of one sandbox.
#[derive(Debug)]
pub(in crate::sandbox) struct Bubblewrap {
    program: PathBuf,
    /// Where the sockets of the ways lie.
    ways_folder: PathBuf,
    /// Where the files of `/etc` lie.
    etc: PathBuf,
    /// The outer halves of the ways, in the order of their ports.
    ways: Vec<OuterWay>,
}

impl Bubblewrap {
    /// Prepares what is beside the agent's own folders.
    pub(in crate::sandbox) fn around(folder: &Folder, program: PathBuf) -> Result<Self, SandboxError> {
        let (ways_folder, etc) = (folder.inner("ways")?, folder.inner("etc")?);
        etc::write(&etc).map_err(|source| SandboxError::File {
            path: etc.clone(),
            source,
        })?;
        Ok(Self {
            program,
            ways_folder,
            etc,
            ways: Vec::new(),
        })
    }

    /// Opens a way to a loopback port. Gives the port inside.
    pub(in crate::sandbox) fn open_way(&mut self, port: u16) -> Result<u16, SandboxError> {
        let index = u16::try_from(self.ways.len()).unwrap_or(u16::MAX);
        let inside = FIRST_PORT
            .checked_add(index)
            .ok_or_else(|| SandboxError::Way(std::io::Error::other("there are too many")))?;
        let way = OuterWay::open(&self.ways_folder, &inside.to_string(), port).map_err(SandboxError::Way)?;
        self.ways.push(way);
        Ok(inside)
    }

    /// What shuts the program of `spec` in.
    pub(in crate::sandbox) fn command_line(
        &self,
        launcher: &Launcher,
        spec: &Spec,
        own_folders: &[&View],
        channel: i32,
        limits: OwnLimits,
    ) -> Result<CommandLine, SandboxError> {
        let ways = (FIRST_PORT..).take(self.ways.len()).map(|port| Way {
            port,
            socket: Path::new(arguments::WAYS).join(port.to_string()),
        });
        let plan = Plan {
            channel,
            kind: Kind::Namespaces,
            ways: ways.collect(),
            limits,
        };
        let room = arguments::Room {
            launcher: &launcher.program,
            ways: &self.ways_folder,
            etc: &self.etc,
            own_folders,
            cwd: &spec.cwd,
        };
        let mut args = arguments::arguments(&room, &confined::installed_files(spec));
        args.extend(["--".into(), arguments::LAUNCHER.into()]);
        args.extend(confined::arguments(launcher, &plan, spec)?);
        Ok(CommandLine {
            program: self.program.clone(),
            args,
        })
    }
}
