//! The command lines of the levels that confine: somebody in between who shuts the agent in.

use std::ffi::OsString;
use std::path::{Component, Path, PathBuf};

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

/// Every file and folder, the system's aside, that the program needs and that the config names. No path has a `..` in it: an
/// engine leaves them out by itself, and then refuses to mount the same place twice.
pub(super) fn installed_files(spec: &Spec) -> Vec<PathBuf> {
    // A program that Node runs finds it in its path.
    let interpreters = spec.path.iter().map(|folder| folder.join("node"));
    let mut files: Vec<PathBuf> = [spec.program.clone()]
        .into_iter()
        .chain(interpreters)
        .filter(|path| path.exists())
        .flat_map(|path| installation::files_of(&path))
        .chain(spec.reads.iter().cloned())
        .map(|path| without_parents(&path).unwrap_or(path))
        .collect();
    files.sort();
    files.dedup();
    files
}

/// The folders that paths of the program lead into only to leave them again by `..`. They have to be there for such a path to
/// lead anywhere.
pub(super) fn passed_through(spec: &Spec) -> Vec<PathBuf> {
    let mut folders = Vec::new();
    for path in [&spec.program].into_iter().chain(&spec.path).chain(&spec.reads) {
        let mut so_far = PathBuf::new();
        for part in path.components() {
            if part == Component::ParentDir {
                folders.push(so_far.clone());
                so_far.pop();
            } else {
                so_far.push(part);
            }
        }
    }
    folders.sort();
    folders.dedup();
    folders
}

/// Those of `files` that lie neither in another one of them nor in one of the folders that are `shown` already.
pub(super) fn outermost(mut files: Vec<PathBuf>, shown: &[PathBuf]) -> Vec<PathBuf> {
    files.sort_by_key(|path| path.components().count());
    let mut found: Vec<PathBuf> = Vec::new();
    for path in files {
        if !shown.iter().chain(&found).any(|folder| path.starts_with(folder)) {
            found.push(path);
        }
    }
    found
}

/// The same file or link by a path without `..`, if it is there.
fn without_parents(path: &Path) -> Option<PathBuf> {
    if !path.components().any(|part| part == Component::ParentDir) {
        return None;
    }
    match (path.parent(), path.file_name()) {
        (Some(folder), Some(name)) => Some(folder.canonicalize().ok()?.join(name)),
        // It ends with one.
        _ => path.canonicalize().ok(),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn what_lies_in_a_folder_that_is_shown_is_not_shown_again() {
        let paths = |paths: &[&str]| paths.iter().map(PathBuf::from).collect::<Vec<_>>();
        let files = paths(&["/opt/a/b/c", "/opt/a/b", "/usr/bin/node", "/opt/ab"]);
        assert_eq!(outermost(files, &paths(&["/usr"])), paths(&["/opt/ab", "/opt/a/b"]));
    }

    #[test]
    fn what_a_path_only_passes_through_is_known() {
        let spec = Spec {
            program: "/a/b/../../c/d/../agent".into(),
            args: Vec::new(),
            env: std::collections::BTreeMap::new(),
            path: vec!["/x/../y".into(), "/usr/bin".into()],
            reads: vec!["/a/b/../file".into()],
            stdin: Vec::new(),
            cwd: "/w".into(),
        };
        let folders = ["/a", "/a/b", "/c/d", "/x"].map(PathBuf::from);
        assert_eq!(passed_through(&spec), folders);
    }

    #[test]
    fn a_link_stays_one_when_its_path_is_made_plain() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path().canonicalize().unwrap();
        fs::create_dir_all(folder.join("bin")).unwrap();
        fs::write(folder.join("program"), "").unwrap();
        symlink("program", folder.join("link")).unwrap();
        let plain = |path: &str| without_parents(&folder.join(path));
        assert_eq!(plain("bin/../link"), Some(folder.join("link")));
        assert_eq!(plain("bin/.."), Some(folder.clone()));
        assert_eq!(plain("link"), None);
        assert_eq!(plain("nowhere/../link"), None);
    }
}
