//! A fresh place for one attempt, at whatever level.

use std::os::unix::fs::chown;
use std::path::{Path, PathBuf};
use std::process::Stdio;
#[cfg(target_os = "linux")]
use std::sync::OnceLock;

use mcproctor_proto::assignment::SandboxLevel;
use tempfile::TempDir;
use tokio::process::Command;

use super::beneath;
use super::counted::Counters;
use super::environment::{Own, environment};
use super::error::SandboxError;
use super::folder::{self, Folder};
use super::launcher::Launcher;
use super::limits::DiskWatch;
use super::running::{RunningProcess, Watched};
use super::spec::{Limits, OutputFiles, Spec};
use super::tree::Marks;
use super::view::View;
use super::wall::{CommandLine, Means, Wall};
use super::word::Listener;
#[cfg(target_os = "linux")]
use super::{
    confined,
    limits::{Group, planned_folders, process_limit},
    plan::OwnLimits,
    word,
};
use crate::descriptors;

/// A fresh place for one attempt, with everything that was started in it.
///
/// Dropping it kills what still runs in it and removes its folders.
#[derive(Debug)]
pub struct Sandbox {
    // Killed first, then removed: fields are dropped in this order.
    processes: Killer,
    #[cfg(target_os = "linux")]
    group: OnceLock<Group>,
    wall: Wall,
    folder: Folder,
    level: SandboxLevel,
    launcher: Launcher,
    home: View,
    work: View,
    temporary: View,
}

/// Kills what carries the marks when dropped.
#[derive(Debug)]
struct Killer(Marks);

impl Drop for Killer {
    fn drop(&mut self) {
        self.0.kill_what_is_left();
    }
}

impl Sandbox {
    /// Makes a fresh home, work and temporary folder in `base`, for their owner only. At levels above `process`, `launcher`
    /// is what shuts itself in and becomes the agent; a container is made of `image`.
    ///
    /// # Errors
    ///
    /// [`SandboxError::Unavailable`] when this machine does not have the level; [`SandboxError::Folder`] and
    /// [`SandboxError::File`].
    pub fn set_up(base: &Path, level: SandboxLevel, image: &str, launcher: &Launcher) -> Result<Self, SandboxError> {
        // Before anything is made.
        let means = Means::of(level, image)?;
        let folder = Folder::make(base)?;
        let wall = Wall::around(&folder, means)?;
        let [home, work, temporary] = [folder.inner("home")?, folder.inner("work")?, folder.inner("tmp")?];
        if let Some((user, group)) = wall.owner() {
            for path in [&home, &work, &temporary] {
                chown(path, Some(user), Some(group)).map_err(|source| SandboxError::Folder {
                    path: path.clone(),
                    source,
                })?;
            }
        }
        let [home, work, temporary] = View::all(level, home, work, temporary);
        let marks = Marks::of_folder(folder.path()).ok_or_else(|| SandboxError::Folder {
            path: folder.path().to_owned(),
            source: std::io::Error::other("its name is not UTF-8"),
        })?;
        Ok(Self {
            processes: Killer(marks),
            #[cfg(target_os = "linux")]
            group: OnceLock::new(),
            folder,
            level,
            wall,
            launcher: launcher.clone(),
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

    /// What it holds an agent with.
    pub fn level(&self) -> SandboxLevel {
        self.level
    }

    /// Lets the agent reach what listens at this port of the loopback interface: a proxy or a relay. Gives the port at which
    /// the agent finds it. At levels that confine the network there is no other way out.
    ///
    /// # Errors
    ///
    /// [`SandboxError::Way`].
    pub fn open_way(&mut self, port: u16) -> Result<u16, SandboxError> {
        self.wall.open_way(port)
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

    /// The agent's home folder, as the agent sees it.
    pub fn home(&self) -> &Path {
        &self.home.inside
    }

    /// The agent's work folder, as the agent sees it.
    pub fn work(&self) -> &Path {
        &self.work.inside
    }

    /// Writes a file into the agent's home, work or temporary folder, readable by its owner only; missing folders are made.
    /// `path` is as the agent sees it. A link that the agent has laid is not followed.
    ///
    /// # Errors
    ///
    /// [`SandboxError::Outside`] and [`SandboxError::File`].
    pub fn write(&self, path: &Path, contents: &[u8]) -> Result<(), SandboxError> {
        let views = [&self.home, &self.work, &self.temporary];
        let (folder, rest) = views
            .into_iter()
            .find_map(|view| Some((&view.outside, view.rest(path)?)))
            .ok_or_else(|| SandboxError::Outside { path: path.to_owned() })?;
        beneath::write(folder, rest, contents, self.wall.owner()).map_err(|source| SandboxError::File {
            path: path.to_owned(),
            source,
        })
    }

    /// Starts a program in a session of its own. Has to be called inside a tokio runtime.
    ///
    /// # Errors
    ///
    /// [`SandboxError::File`], [`SandboxError::Channel`] and [`SandboxError::Start`].
    pub fn start(&self, spec: &Spec, files: &OutputFiles, limits: Limits) -> Result<RunningProcess, SandboxError> {
        match &self.wall {
            Wall::Process => {
                let line = CommandLine {
                    program: spec.program.clone(),
                    args: spec.args.iter().map(Into::into).collect(),
                };
                let command = self.command(&line, spec);
                self.run(command, spec, files, limits, None)
            }
            #[cfg(target_os = "linux")]
            Wall::Landlock { abi, ports } => self.start_confined(spec, files, limits, |channel, own| {
                let folders: [&Path; 3] = [&self.home.outside, &self.work.outside, &self.temporary.outside];
                confined::by_landlock(&self.launcher, spec, (*abi, ports), &folders, channel, own)
            }),
            #[cfg(target_os = "linux")]
            Wall::Bubblewrap(bubblewrap) => self.start_confined(spec, files, limits, |channel, own| {
                let folders = [&self.home, &self.work, &self.temporary];
                bubblewrap.command_line(&self.launcher, spec, &folders, channel, own)
            }),
            #[cfg(target_os = "linux")]
            Wall::Container(container) => self.start_confined(spec, files, limits, |channel, own| {
                let folders = [&self.home, &self.work, &self.temporary];
                let limits = (own, limits.resources);
                container.command_line(
                    &self.launcher,
                    spec,
                    &folders,
                    channel,
                    limits,
                    &self.processes.0.marker,
                )
            }),
        }
    }

    #[cfg(target_os = "linux")]
    fn start_confined(
        &self,
        spec: &Spec,
        files: &OutputFiles,
        limits: Limits,
        line: impl FnOnce(i32, OwnLimits) -> Result<CommandLine, SandboxError>,
    ) -> Result<RunningProcess, SandboxError> {
        let (listener, speaker) = word::channel().map_err(SandboxError::Channel)?;
        let own = OwnLimits {
            file_bytes: limits.resources.disk_bytes,
            processes: process_limit(self.level, &limits.resources),
        };
        let line = line(speaker.number(), own)?;
        let mut command = self.command(&line, spec);
        speaker.hand_over(&mut command);
        self.run(command, spec, files, limits, Some(listener))
    }

    fn run(
        &self,
        mut command: Command,
        spec: &Spec,
        files: &OutputFiles,
        limits: Limits,
        listener: Option<Listener>,
    ) -> Result<RunningProcess, SandboxError> {
        #[cfg(target_os = "linux")]
        let counters = match self.level {
            // Its engine makes the group.
            SandboxLevel::Container => Counters::default(),
            _ => {
                let group = self.group(&limits)?;
                group.hold(&mut command);
                group.counters().clone()
            }
        };
        #[cfg(not(target_os = "linux"))]
        let counters = Counters::default();
        let folders = [&self.home, &self.work, &self.temporary].map(|view| view.outside.clone());
        let watched = Watched {
            disk: limits
                .resources
                .disk_bytes
                .map(|bytes| DiskWatch::new(folders.to_vec(), bytes)),
            listener,
            counters,
        };
        RunningProcess::start(command, spec, files, limits, &self.processes.0, watched)
    }

    /// The attempt's control group, made when it first runs something. Its folders are noted, so that the next worker can
    /// remove them should this one die.
    #[cfg(target_os = "linux")]
    fn group(&self, limits: &Limits) -> Result<&Group, SandboxError> {
        if let Some(group) = self.group.get() {
            return Ok(group);
        }
        let name = &self.processes.0.marker;
        let planned = planned_folders(name, &limits.resources);
        if !planned.is_empty() {
            let folders: Vec<_> = planned.iter().map(|folder| folder.to_string_lossy()).collect();
            self.folder.note_groups(&folders.join("\n"))?;
        }
        let group = Group::make(name, &limits.resources);
        Ok(self.group.get_or_init(|| group))
    }

    fn command(&self, line: &CommandLine, spec: &Spec) -> Command {
        let own = Own {
            home: &self.home.inside,
            temporary: &self.temporary.inside,
            marker: &self.processes.0.marker,
        };
        let mut command = Command::new(&line.program);
        command
            .args(&line.args)
            .env_clear()
            .envs(environment(spec, own))
            .current_dir(self.outside(&spec.cwd))
            .stdin(Stdio::piped())
            .kill_on_drop(true);
        // A session of its own: a group to kill, and no terminal to write to or to wait for.
        // SAFETY: the closure runs between fork and exec and makes one system call, which is async-signal-safe.
        unsafe {
            command.pre_exec(|| rustix::process::setsid().map(drop).map_err(Into::into));
        }
        descriptors::give_limit_found(&mut command);
        command
    }

    /// Where `folder`, an agent's, lies.
    fn outside(&self, folder: &Path) -> PathBuf {
        [&self.home, &self.work, &self.temporary]
            .into_iter()
            .find_map(|view| Some(view.outside.join(view.rest(folder)?)))
            .unwrap_or_else(|| folder.to_owned())
    }
}

#[cfg(test)]
mod tests;
