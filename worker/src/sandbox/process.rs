//! The level `process`.

use std::collections::BTreeMap;
use std::env;
use std::ffi::OsString;
use std::fs::OpenOptions;
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Component, Path, PathBuf};
use std::process::Stdio;

use secrecy::{ExposeSecret as _, SecretString};
use tempfile::TempDir;
use tokio::process::Command;

use super::error::SandboxError;
use super::folder::{self, Folder};
use super::running::RunningProcess;
use super::tree::{MARKER, Marks};

/// The name that agents see as the user's, whoever the user is.
const USER: &str = "agent";

/// What to run.
#[derive(Clone, Debug)]
pub struct Spec {
    /// Absolute path of the program.
    pub program: PathBuf,
    /// Its arguments, without the program.
    pub args: Vec<String>,
    /// Its environment, on top of `HOME`, `PATH`, `TMPDIR`, `LANG`, `TERM`, `NO_COLOR`, `USER`, `LOGNAME` and `SHELL`, which it
    /// may replace.
    pub env: BTreeMap<String, SecretString>,
    /// Folders that come first in its `PATH`.
    pub path: Vec<PathBuf>,
    /// Written to its standard input, which is then closed.
    pub stdin: Vec<u8>,
    /// Its current directory.
    pub cwd: PathBuf,
}

/// Where the output goes. Both files are made when missing, and appended to.
#[derive(Clone, Debug)]
pub struct OutputFiles {
    /// Standard output.
    pub stdout: PathBuf,
    /// Standard error.
    pub stderr: PathBuf,
}

/// What one run of a program may use.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Bytes of standard output and error together; beyond it the program is killed and its output counts as incomplete.
    pub output_bytes: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            output_bytes: 512 * 1024 * 1024,
        }
    }
}

/// A fresh place for one attempt, with everything that was started in it.
///
/// Dropping it kills what still runs in it and removes its folders.
#[derive(Debug)]
pub struct ProcessSandbox {
    // Killed first, then removed: fields are dropped in this order.
    processes: Killer,
    folder: Folder,
    home: PathBuf,
    work: PathBuf,
    temporary: PathBuf,
}

/// Kills what carries the marks when dropped.
#[derive(Debug)]
struct Killer(Marks);

impl Drop for Killer {
    fn drop(&mut self) {
        self.0.kill_what_is_left();
    }
}

impl ProcessSandbox {
    /// Makes a fresh home, work and temporary folder in `base`, for their owner only.
    ///
    /// # Errors
    ///
    /// [`SandboxError::Folder`] and [`SandboxError::File`].
    pub fn set_up(base: &Path) -> Result<Self, SandboxError> {
        let folder = Folder::make(base)?;
        let [home, work, temporary] = [folder.inner("home")?, folder.inner("work")?, folder.inner("tmp")?];
        let marks = Marks::of_folder(folder.path()).ok_or_else(|| SandboxError::Folder {
            path: folder.path().to_owned(),
            source: std::io::Error::other("its name is not UTF-8"),
        })?;
        Ok(Self {
            processes: Killer(marks),
            folder,
            home,
            work,
            temporary,
        })
    }

    /// Ends what workers that died have left in `base`: agents still running, and folders. Returns how many sandboxes it
    /// removed; those of living workers are left alone. Blocks.
    pub fn remove_stale(base: &Path) -> usize {
        folder::remove_stale(base)
    }

    /// Kills what still runs in it. A program that was seen to its end with [`RunningProcess::next`] has left nothing.
    pub async fn end_processes(&self) {
        let marks = self.processes.0.clone();
        // Should the task fail, the drop kills.
        let _ = tokio::task::spawn_blocking(move || marks.kill_what_is_left()).await;
    }

    /// A folder for what is recorded of the agent, where the agent cannot see it. It stays when the sandbox is dropped, and
    /// goes with the sandbox when its worker dies.
    ///
    /// # Errors
    ///
    /// [`SandboxError::Folder`].
    pub fn records(&self) -> Result<TempDir, SandboxError> {
        self.folder.beside()
    }

    /// The agent's home folder.
    pub fn home(&self) -> &Path {
        &self.home
    }

    /// The agent's work folder.
    pub fn work(&self) -> &Path {
        &self.work
    }

    /// Writes a file inside the sandbox, readable by its owner only; missing folders are made.
    ///
    /// # Errors
    ///
    /// [`SandboxError::Outside`], [`SandboxError::Folder`] and [`SandboxError::File`].
    pub fn write(&self, path: &Path, contents: &[u8]) -> Result<(), SandboxError> {
        let inside = path.starts_with(self.folder.path()) && path.components().all(|part| part != Component::ParentDir);
        if !inside {
            return Err(SandboxError::Outside { path: path.to_owned() });
        }
        if let Some(parent) = path.parent() {
            folder::make_private(parent)?;
        }
        OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(true)
            .mode(0o600)
            .open(path)
            .and_then(|mut file| file.write_all(contents))
            .map_err(|source| SandboxError::File {
                path: path.to_owned(),
                source,
            })
    }

    /// Starts a program in a session of its own. Has to be called inside a tokio runtime.
    ///
    /// # Errors
    ///
    /// [`SandboxError::File`] and [`SandboxError::Start`].
    pub fn start(&self, spec: &Spec, files: &OutputFiles, limits: Limits) -> Result<RunningProcess, SandboxError> {
        let mut command = Command::new(&spec.program);
        command
            .args(&spec.args)
            .env_clear()
            .envs(self.environment(spec))
            .current_dir(&spec.cwd)
            .stdin(Stdio::piped())
            .kill_on_drop(true);
        // A session of its own: a group to kill, and no terminal to write to or to wait for.
        // SAFETY: the closure runs between fork and exec and makes one system call, which is async-signal-safe.
        unsafe {
            command.pre_exec(|| rustix::process::setsid().map(drop).map_err(Into::into));
        }
        RunningProcess::start(command, spec, files, limits, &self.processes.0)
    }

    fn environment(&self, spec: &Spec) -> BTreeMap<OsString, OsString> {
        let mut folders = spec.path.clone();
        for usual in [
            "/usr/local/sbin",
            "/usr/local/bin",
            "/usr/sbin",
            "/usr/bin",
            "/sbin",
            "/bin",
        ] {
            folders.push(PathBuf::from(usual));
        }
        // A folder whose name holds a colon cannot be in PATH at all.
        folders.retain(|folder| !folder.as_os_str().as_encoded_bytes().contains(&b':'));
        let mut environment: BTreeMap<OsString, OsString> = BTreeMap::from([
            ("PATH".into(), env::join_paths(folders).unwrap_or_default()),
            ("HOME".into(), self.home.clone().into()),
            ("TMPDIR".into(), self.temporary.clone().into()),
            ("USER".into(), USER.into()),
            ("LOGNAME".into(), USER.into()),
            ("SHELL".into(), "/bin/sh".into()),
            ("LANG".into(), "C.UTF-8".into()),
            ("TERM".into(), "dumb".into()),
            ("NO_COLOR".into(), "1".into()),
        ]);
        for (name, value) in &spec.env {
            environment.insert(name.into(), value.expose_secret().into());
        }
        environment.insert(MARKER.into(), self.processes.0.marker.clone().into());
        environment
    }
}

#[cfg(test)]
mod tests;
