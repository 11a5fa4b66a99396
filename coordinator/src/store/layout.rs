//! What lies where inside the store's folder.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use super::error::StoreError;
use super::hash::ContentHash;

/// The paths of one store.
#[derive(Clone, Debug)]
pub(super) struct Layout {
    root: PathBuf,
}

impl Layout {
    pub(super) fn new(root: &Path) -> Self {
        Self { root: root.to_owned() }
    }

    /// Creates the folders that are missing. The database's own folder keeps the usual rights, because reports lie in
    /// it; evidence and locks are the owner's alone.
    pub(super) fn create(&self) -> Result<(), StoreError> {
        if !self.root.is_dir() {
            fs::create_dir_all(&self.root).map_err(|error| StoreError::io("create", &self.root, error))?;
            // An ancestor may belong to somebody else; then its entry is theirs to keep.
            if let Some(parent) = self.root.parent().filter(|parent| !parent.as_os_str().is_empty()) {
                let _ = sync_dir(parent);
            }
        }
        for folder in [
            self.root.join("evidence"),
            self.packs(),
            self.objects(),
            self.partial(),
            self.locks(),
        ] {
            private_dir(&folder)?;
        }
        sync_dir(&self.root)?;
        sync_dir(&self.root.join("evidence"))
    }

    pub(super) fn root(&self) -> &Path {
        &self.root
    }

    pub(super) fn database(&self) -> PathBuf {
        self.root.join("mcproctor.db")
    }

    pub(super) fn packs(&self) -> PathBuf {
        self.root.join("evidence/packs")
    }

    pub(super) fn pack(&self, number: u32) -> PathBuf {
        self.packs().join(format!("{number:04}.pack"))
    }

    pub(super) fn objects(&self) -> PathBuf {
        self.root.join("evidence/objects")
    }

    pub(super) fn object(&self, hash: &ContentHash) -> PathBuf {
        let hex = hash.to_string();
        let (folder, name) = hex.split_at(2);
        self.objects().join(folder).join(name)
    }

    pub(super) fn partial(&self) -> PathBuf {
        self.root.join("evidence/partial")
    }

    pub(super) fn locks(&self) -> PathBuf {
        self.root.join("locks")
    }
}

/// Creates a folder that only its owner can enter, unless it is there.
pub(super) fn private_dir(path: &Path) -> Result<(), StoreError> {
    match DirBuilder::new().mode(0o700).create(path) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(StoreError::io("create", path, error)),
        _ => Ok(()),
    }
}

/// Options for a file that only its owner can read, readable and writable.
pub(super) fn private_file() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.read(true).write(true).mode(0o600);
    options
}

/// Makes the entries of a folder durable: a synced file whose name is lost is lost.
pub(super) fn sync_dir(path: &Path) -> Result<(), StoreError> {
    File::open(path)
        .and_then(|folder| folder.sync_all())
        .map_err(|error| StoreError::io("sync", path, error))
}
