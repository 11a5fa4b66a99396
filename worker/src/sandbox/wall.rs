//! What stands between an agent and the machine: the part of a sandbox that differs from level to level.

use std::ffi::OsString;
#[cfg(target_os = "linux")]
use std::path::Path;
use std::path::PathBuf;

use mcproctor_proto::assignment::SandboxLevel;

use super::ability::ability;
use super::error::SandboxError;
#[cfg(target_os = "linux")]
use super::{
    installation,
    landlock::{Abi, FileRight, Rules, SYSTEM, Sockets},
    launcher::Launcher,
    plan::{Kind, Plan},
    spec::Spec,
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
}

/// What to execute: a program and its arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct CommandLine {
    pub(super) program: PathBuf,
    pub(super) args: Vec<OsString>,
}

impl Wall {
    /// The wall of `level`, if this machine has it.
    pub(super) fn of(level: SandboxLevel) -> Result<Self, SandboxError> {
        let unavailable = |why| SandboxError::Unavailable { level, why };
        match level {
            SandboxLevel::Process => Ok(Self::Process),
            #[cfg(target_os = "linux")]
            SandboxLevel::Landlock => super::ability::landlock()
                .map(|abi| Self::Landlock { abi, ports: Vec::new() })
                .map_err(unavailable),
            other => Err(unavailable(ability(other).err().unwrap_or_else(|| {
                super::ability::Unavailable::new("it is not known here", "use another level")
            }))),
        }
    }

    /// Lets the agent reach what listens at this port of the loopback interface. Gives the port at which it finds it.
    pub(super) fn open_way(&mut self, port: u16) -> u16 {
        match self {
            Self::Process => {}
            #[cfg(target_os = "linux")]
            Self::Landlock { ports, .. } => ports.push(port),
        }
        port
    }
}

/// The command line that shuts itself in by Landlock and becomes the program of `spec`.
#[cfg(target_os = "linux")]
pub(super) fn landlocked(
    launcher: &Launcher,
    spec: &Spec,
    abi: Abi,
    ports: &[u16],
    own_folders: &[&Path],
    channel: i32,
) -> Result<CommandLine, SandboxError> {
    let mut files: Vec<(PathBuf, FileRight)> = SYSTEM
        .into_iter()
        .map(|(path, right)| (PathBuf::from(path), right))
        .collect();
    let installed = programs(spec).into_iter().map(|path| (path, FileRight::Run));
    files.extend(installed);
    files.extend(own_folders.iter().map(|folder| ((*folder).to_owned(), FileRight::Write)));
    let plan = Plan {
        channel: Some(channel),
        kind: Kind::Landlock(Rules {
            abi: abi.0,
            files,
            ports: ports.to_vec(),
            sockets: Sockets::OnlyTcp,
        }),
    };
    wrapped(launcher, &plan, spec)
}

/// Every file and folder outside the system that the program needs.
#[cfg(target_os = "linux")]
fn programs(spec: &Spec) -> Vec<PathBuf> {
    let interpreters = spec.path.iter().map(|folder| folder.join("node"));
    let mut files: Vec<PathBuf> = [spec.program.clone()]
        .into_iter()
        .chain(interpreters)
        .filter(|path| path.exists())
        .flat_map(|path| installation::files_of(&path))
        .chain(spec.reads.iter().cloned())
        .collect();
    files.sort();
    files.dedup();
    files
}

#[cfg(target_os = "linux")]
fn wrapped(launcher: &Launcher, plan: &Plan, spec: &Spec) -> Result<CommandLine, SandboxError> {
    let plan = serde_json::to_string(plan).map_err(|error| SandboxError::Plan(error.to_string()))?;
    let mut args = launcher.args.clone();
    args.extend(["--plan".into(), plan.into(), "--".into(), spec.program.clone().into()]);
    args.extend(spec.args.iter().map(OsString::from));
    Ok(CommandLine {
        program: launcher.program.clone(),
        args,
    })
}
