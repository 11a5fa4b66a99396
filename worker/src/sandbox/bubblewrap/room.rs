//! One sandbox of this level.

use std::path::PathBuf;

use super::arguments;
use crate::sandbox::confined;
use crate::sandbox::error::SandboxError;
use crate::sandbox::etc;
use crate::sandbox::folder::Folder;
use crate::sandbox::launcher::Launcher;
use crate::sandbox::plan::{Kind, OwnLimits, Plan};
use crate::sandbox::spec::Spec;
use crate::sandbox::view::View;
use crate::sandbox::wall::CommandLine;
use crate::sandbox::ways::Ways;

/// The walls of one sandbox.
#[derive(Debug)]
pub(in crate::sandbox) struct Bubblewrap {
    program: PathBuf,
    ways: Ways,
    /// Where the files of `/etc` lie.
    etc: PathBuf,
}

impl Bubblewrap {
    /// Prepares what is beside the agent's own folders.
    pub(in crate::sandbox) fn around(folder: &Folder, program: PathBuf) -> Result<Self, SandboxError> {
        let (ways, etc) = (Ways::through(folder.inner("ways")?), folder.inner("etc")?);
        etc::write(&etc).map_err(|source| SandboxError::File {
            path: etc.clone(),
            source,
        })?;
        Ok(Self { program, ways, etc })
    }

    /// Opens a way to a loopback port. Gives the port inside.
    pub(in crate::sandbox) fn open_way(&mut self, port: u16) -> Result<u16, SandboxError> {
        self.ways.open(port).map(|(inside, _)| inside)
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
        let plan = Plan {
            channel,
            kind: Kind::Namespaces,
            ways: self.ways.plan(),
            limits,
        };
        let room = arguments::Room {
            launcher: &launcher.program,
            ways: self.ways.folder(),
            etc: &self.etc,
            own_folders,
            cwd: &spec.cwd,
            passed_through: &confined::passed_through(spec),
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
