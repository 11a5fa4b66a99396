//! The command lines of the levels that confine: somebody in between who shuts the agent in.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use super::error::SandboxError;
use super::installation;
use super::landlock::{Abi, FileRight, Rules, SYSTEM};
use super::launcher::Launcher;
use super::plan::{Kind, OwnLimits, Plan};
use super::spec::Spec;
use super::wall::CommandLine;

/// What confines the program of `spec` by Landlock.
pub(super) fn by_landlock(
    launcher: &Launcher,
    spec: &Spec,
    (abi, ports): (Abi, &[u16]),
    own_folders: &[&Path],
    channel: i32,
    limits: OwnLimits,
) -> Result<CommandLine, SandboxError> {
    let mut files: Vec<(PathBuf, FileRight)> = SYSTEM
        .into_iter()
        .map(|(path, right)| (PathBuf::from(path), right))
        .collect();
    files.extend(installed_files(spec).into_iter().map(|path| (path, FileRight::Run)));
    files.extend(
        own_folders
            .iter()
            .map(|folder| ((*folder).to_owned(), FileRight::Write)),
    );
    let plan = Plan {
        channel,
        kind: Kind::Landlock(Rules {
            abi: abi.0,
            files,
            ports: ports.to_vec(),
        }),
        ways: Vec::new(),
        limits,
    };
    Ok(CommandLine {
        program: launcher.program.clone(),
        args: arguments(launcher, &plan, spec)?,
    })
}

/// The arguments of the launcher, without its program.
pub(super) fn arguments(launcher: &Launcher, plan: &Plan, spec: &Spec) -> Result<Vec<OsString>, SandboxError> {
    let plan = serde_json::to_string(plan).map_err(|error| SandboxError::Plan(error.to_string()))?;
    let mut args = launcher.args.clone();
    args.extend(["--plan".into(), plan.into(), "--".into(), spec.program.clone().into()]);
    args.extend(spec.args.iter().map(OsString::from));
    Ok(args)
}

/// Every file and folder, the system's aside, that the program needs and that the config names.
pub(super) fn installed_files(spec: &Spec) -> Vec<PathBuf> {
    // A program that Node runs finds it in its path.
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
