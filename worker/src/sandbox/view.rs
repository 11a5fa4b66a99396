//! The folders of a sandbox, from outside and as its agent sees them.

use std::path::{Component, Path, PathBuf};

/// A folder of an agent's own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct View {
    /// Where it lies.
    pub(super) outside: PathBuf,
    /// Where its agent finds it.
    pub(super) inside: PathBuf,
}

impl View {
    /// A folder that is the same from both sides.
    pub(super) fn unchanged(folder: PathBuf) -> Self {
        Self {
            inside: folder.clone(),
            outside: folder,
        }
    }

    /// The rest of `path`, an agent's, if it lies in this folder.
    pub(super) fn rest<'a>(&self, path: &'a Path) -> Option<&'a Path> {
        path.strip_prefix(&self.inside)
            .ok()
            .filter(|rest| rest.components().all(|part| matches!(part, Component::Normal(_))))
    }
}
