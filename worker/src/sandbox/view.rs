//! The folders of a sandbox, from outside and as its agent sees them.

use std::path::{Component, Path, PathBuf};

use mcproctor_proto::assignment::SandboxLevel;

/// A folder of an agent's own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct View {
    /// Where it lies.
    pub(super) outside: PathBuf,
    /// Where its agent finds it.
    pub(super) inside: PathBuf,
}

impl View {
    /// The home, work and temporary folder of a sandbox at `level`.
    ///
    /// Where a level can show an agent other paths than the true ones they are constant: what a model is told is then the same
    /// in every attempt, and its provider's cache of prompts works. No program of the host is likely to lie beneath them, where it
    /// would be shown among the agent's own files. The home is not beneath the temporary folder, where codex refuses to run its
    /// helpers.
    pub(super) fn all(level: SandboxLevel, home: PathBuf, work: PathBuf, temporary: PathBuf) -> [Self; 3] {
        let places = match level {
            SandboxLevel::Process | SandboxLevel::Landlock => [home.clone(), work.clone(), temporary.clone()],
            SandboxLevel::Bubblewrap | SandboxLevel::Container => {
                ["/agent/home", "/agent/work", "/tmp"].map(PathBuf::from)
            }
        };
        let mut outside = [home, work, temporary].into_iter();
        places.map(|inside| Self {
            outside: outside.next().unwrap_or_default(),
            inside,
        })
    }

    /// The rest of `path`, an agent's, if it lies in this folder.
    pub(super) fn rest<'a>(&self, path: &'a Path) -> Option<&'a Path> {
        path.strip_prefix(&self.inside)
            .ok()
            .filter(|rest| rest.components().all(|part| matches!(part, Component::Normal(_))))
    }
}
