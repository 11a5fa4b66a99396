//! The arguments of `docker run` and `podman run`.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::thread;

use mcproctor_proto::assignment::Resources;
use rustix::process::{Resource, getrlimit};

use super::engine::Kind;
use crate::descriptors;
use crate::sandbox::confined::outermost;
use crate::sandbox::etc;
use crate::sandbox::view::View;
use crate::sandbox::ways;

/// Where our own program lies inside; it is the first process there.
const LAUNCHER: &str = "/run/mcproctor/launcher";

/// Where the socket over which it is told what to do lies inside.
pub(super) const ENTRANCE: &str = "entrance";

/// What is the image's own, and not shown of the host: a program from there needs the libraries beside it.
const SYSTEM: [&str; 10] = [
    "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/usr", "/etc", "/proc", "/dev",
];

/// Where administrators install programs that came with no system.
const LOCAL: &str = "/usr/local";

/// Where a root user's programs lie, in a folder that others may not enter.
const ROOTS_HOME: &str = "/root";

/// The parts of one container.
#[derive(Clone, Debug)]
pub(super) struct Room<'a> {
    pub(super) engine: Kind,
    /// The container's name.
    pub(super) name: &'a str,
    /// What it is known by.
    pub(super) label: &'a str,
    /// What marks the processes of the attempt, `NAME=VALUE`.
    pub(super) marker: &'a str,
    pub(super) image: &'a str,
    pub(super) launcher: &'a Path,
    pub(super) launcher_args: &'a [OsString],
    pub(super) ways: &'a Path,
    /// Where the agent's own files of `/etc` lie.
    pub(super) etc: &'a Path,
    pub(super) own_folders: &'a [&'a View],
    /// An empty folder to show as root's home, which an image closes to everybody else. Needed under root, whose programs may lie
    /// there.
    pub(super) roots_home: Option<&'a Path>,
    pub(super) cwd: &'a Path,
    /// Numbers of user and group, and whether the engine has to be told to keep them.
    pub(super) user: (u32, u32),
    pub(super) keep_user: bool,
    pub(super) resources: Resources,
}

/// All arguments. `installed` is what is shown of the host, at the place where it lies.
pub(super) fn arguments(room: &Room<'_>, installed: &[PathBuf]) -> Vec<OsString> {
    let mut args = Args::default();
    args.words(&[
        "run",
        "--rm",
        "--pull",
        "never",
        "--network",
        "none",
        "--read-only",
        "--cap-drop",
        "ALL",
        "--security-opt",
        "no-new-privileges",
        // Else a system with SELinux keeps the container from the agent's own folders.
        "--security-opt",
        "label=disable",
        "--ipc",
        "private",
        "--hostname",
        etc::HOST,
        "--log-driver",
        "none",
        "--no-healthcheck",
        "--name",
        room.name,
        "--label",
        room.label,
        "--env",
        room.marker,
    ]);
    if room.engine == Kind::Podman {
        // A root that is read-only is to be so everywhere; docker puts nothing of its own there.
        args.words(&["--read-only-tmpfs=false"]);
        own_limits(&mut args);
    }
    if room.keep_user {
        args.words(&["--userns", "keep-id"]);
    }
    args.words(&["--user", &format!("{}:{}", room.user.0, room.user.1)]);
    limits(&mut args, &room.resources);
    // What it tells of the machine.
    args.tmpfs("/sys");
    for name in etc::own_names() {
        args.bind(&room.etc.join(name), &Path::new(etc::ETC).join(name), true);
    }
    for folder in room.own_folders {
        args.bind(&folder.outside, &folder.inside, false);
    }
    installed_files(&mut args, room.roots_home, installed);
    args.bind(room.launcher, Path::new(LAUNCHER), true);
    args.bind(room.ways, Path::new(ways::INSIDE), true);
    args.0.extend(["--workdir".into(), room.cwd.into()]);
    args.words(&["--entrypoint", LAUNCHER, room.image]);
    args.0.extend(room.launcher_args.iter().cloned());
    let entrance = Path::new(ways::INSIDE).join(ENTRANCE);
    args.0.extend(["--entrance".into(), entrance.into()]);
    args.0
}

/// Podman asks for more than it may have where it lacks a privilege, and fails with it; an agent needs no more than the worker.
fn own_limits(args: &mut Args) {
    for (name, limit, enough) in [
        ("nofile", descriptors::limit_found(), 1 << 20),
        ("nproc", getrlimit(Resource::Nproc), 1 << 15),
    ] {
        let at_most = |value: Option<u64>| value.map_or(enough, |value| value.min(enough));
        let both = format!("{name}={}:{}", at_most(limit.current), at_most(limit.maximum));
        args.words(&["--ulimit", &both]);
    }
}

fn limits(args: &mut Args, resources: &Resources) {
    if let Some(bytes) = resources.memory_bytes {
        // The same for both: no swap beside it.
        let bytes = bytes.to_string();
        args.words(&["--memory", &bytes, "--memory-swap", &bytes]);
    }
    if let Some(processes) = resources.processes {
        // Our own is one of them, with its threads for the ways.
        args.words(&["--pids-limit", &processes.to_string()]);
    }
    if let Some(cpus) = resources.cpus {
        // An engine refuses more than there are.
        let there = thread::available_parallelism().map_or(cpus, |there| u32::try_from(there.get()).unwrap_or(cpus));
        args.words(&["--cpus", &cpus.min(there).to_string()]);
    }
}

/// Programs with what was installed with them: folders before what lies in them, which is then there already.
fn installed_files(args: &mut Args, roots_home: Option<&Path>, installed: &[PathBuf]) {
    let mut files = installed.to_vec();
    // Whatever the image has beneath the root is not hidden as a whole.
    files.retain(|path| !is_of_the_image(path) && path.parent().is_some());
    if let Some(roots_home) = roots_home
        && files.iter().any(|path| path.starts_with(ROOTS_HOME))
    {
        // The engine makes the places of what is shown beneath it; it belongs to root, who the agent is not.
        args.bind(roots_home, Path::new(ROOTS_HOME), false);
    }
    for path in outermost(files, &[]) {
        args.bind(&path, &path, true);
    }
}

/// Whether a file of this path is the image's.
pub(super) fn is_of_the_image(path: &Path) -> bool {
    SYSTEM.iter().any(|folder| path.starts_with(folder)) && !path.starts_with(LOCAL)
}

#[derive(Default)]
struct Args(Vec<OsString>);

impl Args {
    fn words(&mut self, words: &[&str]) {
        self.0.extend(words.iter().map(OsString::from));
    }

    fn bind(&mut self, outside: &Path, inside: &Path, read_only: bool) {
        let mut fields = vec![
            OsString::from("type=bind"),
            field("source", outside),
            field("target", inside),
        ];
        if read_only {
            fields.push("ro".into());
        }
        self.mount(&fields);
    }

    /// An empty folder that nobody can write to.
    fn tmpfs(&mut self, inside: &str) {
        self.mount(&[
            "type=tmpfs".into(),
            field("target", Path::new(inside)),
            "tmpfs-size=4096".into(),
            "ro".into(),
        ]);
    }

    fn mount(&mut self, fields: &[OsString]) {
        self.0
            .extend(["--mount".into(), fields.join(std::ffi::OsStr::new(","))]);
    }
}

/// One field of a line of comma-separated values (RFC 4180), as engines read mounts.
fn field(name: &str, path: &Path) -> OsString {
    let mut plain = OsString::from(format!("{name}="));
    plain.push(path);
    match plain.to_str() {
        Some(text) if text.contains([',', '"', '\n']) => format!("\"{}\"", text.replace('"', "\"\"")).into(),
        _ => plain,
    }
}

#[cfg(test)]
mod tests;
