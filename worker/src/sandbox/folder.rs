//! The folders of one sandbox, and their removal.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::{self, DirBuilder, File, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use tempfile::TempDir;

use super::error::SandboxError;
use super::tree::Marks;

/// What the names of sandboxes begin with.
const PREFIX: &str = "attempt-";

/// What the names of the folders beside them begin with.
const RECORDS_PREFIX: &str = "records-of-";

/// The name of the file in a sandbox, and in a folder beside one, that its worker keeps locked.
const LOCK: &str = "lock";

/// The name of the file in a sandbox that names its control groups.
#[cfg(target_os = "linux")]
const GROUPS: &str = "groups";

/// The locks of the folders beside sandboxes: held until the folder is gone or the worker is, because what was recorded is
/// handed on and outlives the sandbox.
static RECORDS: Mutex<BTreeMap<PathBuf, File>> = Mutex::new(BTreeMap::new());

/// One sandbox's folder. Removed when dropped.
#[derive(Debug)]
pub(super) struct Folder {
    path: PathBuf,
    /// Locked for as long as the worker lives, so that [`remove_stale`] knows which sandboxes are nobody's.
    _lock: File,
}

impl Folder {
    pub(super) fn make(base: &Path) -> Result<Self, SandboxError> {
        let failed = |path: &Path| {
            let path = path.to_owned();
            move |source| SandboxError::Folder { path, source }
        };
        make_private(base)?;
        let base = base.canonicalize().map_err(failed(base))?;
        // Until its own lock is held, the sandbox is kept from being taken for one that nobody holds.
        let making = File::open(&base).map_err(failed(&base))?;
        making.lock_shared().map_err(failed(&base))?;
        let path = tempfile::Builder::new()
            .prefix(PREFIX)
            .rand_bytes(12)
            .permissions(Permissions::from_mode(0o700))
            .tempdir_in(&base)
            .map_err(failed(&base))?
            .keep();
        let lock = hold(&path).map_err(|source| {
            let _ = fs::remove_dir_all(&path);
            SandboxError::File {
                path: path.join(LOCK),
                source,
            }
        })?;
        Ok(Self { path, _lock: lock })
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Makes a folder beside it that goes with it when its worker dies, readable by its owner only. Its life is otherwise
    /// its holder's, because what was recorded is needed after the sandbox is gone.
    pub(super) fn beside(&self) -> Result<TempDir, SandboxError> {
        let path = records_beside(&self.path);
        let name = path.file_name().unwrap_or_default();
        let records = tempfile::Builder::new()
            .prefix(name)
            .rand_bytes(0)
            .permissions(Permissions::from_mode(0o700))
            .tempdir_in(path.parent().unwrap_or(&self.path))
            .map_err(|source| SandboxError::Folder {
                path: path.clone(),
                source,
            })?;
        let lock = hold(&path).map_err(|source| SandboxError::File {
            path: path.join(LOCK),
            source,
        })?;
        let mut held = RECORDS.lock().unwrap_or_else(PoisonError::into_inner);
        held.retain(|path, _| path.exists());
        held.insert(path, lock);
        Ok(records)
    }

    /// Notes the control groups of the sandbox, a folder a line.
    #[cfg(target_os = "linux")]
    pub(super) fn note_groups(&self, folders: &str) -> Result<(), SandboxError> {
        let path = self.path.join(GROUPS);
        fs::write(&path, folders).map_err(|source| SandboxError::File { path, source })
    }

    /// Makes a folder inside, readable by its owner only.
    pub(super) fn inner(&self, name: &str) -> Result<PathBuf, SandboxError> {
        let path = self.path.join(name);
        make_private(&path)?;
        Ok(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = remove(&self.path);
    }
}

/// Makes and locks the lock file.
fn hold(folder: &Path) -> io::Result<File> {
    let lock = File::create(folder.join(LOCK))?;
    lock.lock()?;
    Ok(lock)
}

/// Where what is recorded of the sandbox at `path` lies: beside it, because its agent is not to see it.
fn records_beside(path: &Path) -> PathBuf {
    let mut name = OsString::from(RECORDS_PREFIX);
    name.push(path.file_name().unwrap_or_default());
    path.with_file_name(name)
}

/// Makes `path` and what is missing above it, readable by its owner only. What is there already stays as it is.
pub(super) fn make_private(path: &Path) -> Result<(), SandboxError> {
    DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(path)
        .map_err(|source| SandboxError::Folder {
            path: path.to_owned(),
            source,
        })
}

/// Removes `path` with all it holds, folders that their owner made read-only included (package caches are).
fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_dir_all(path) {
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            open_up(path);
            fs::remove_dir_all(path)
        }
        other => other,
    }
}

/// Gives the owner back every right on `folder` and the folders below it, following no symbolic link.
fn open_up(folder: &Path) {
    let mut waiting = vec![folder.to_owned()];
    while let Some(folder) = waiting.pop() {
        let _ = fs::set_permissions(&folder, Permissions::from_mode(0o700));
        let entries = fs::read_dir(&folder).into_iter().flatten().flatten();
        waiting.extend(
            entries
                .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()))
                .map(|e| e.path()),
        );
    }
}

/// Ends what is left in `base` of workers that died without cleaning up: their agents' processes and folders. Returns
/// how many sandboxes were removed. Those of living workers are left alone.
pub(super) fn remove_stale(base: &Path) -> usize {
    let mut removed = 0;
    for path in held_by_nobody(base) {
        if let Some(marks) = Marks::of_folder(&path) {
            marks.kill_all();
        }
        #[cfg(target_os = "linux")]
        if !super::container::remove_named(&path) || !super::limits::remove_named(&path.join(GROUPS)) {
            // The folder is what remembers them; the next worker tries again.
            continue;
        }
        let _ = remove(&records_beside(&path));
        removed += usize::from(remove(&path).is_ok());
    }
    for entry in fs::read_dir(base).into_iter().flatten().flatten() {
        remove_if_orphaned(&entry.path());
    }
    removed
}

/// The sandboxes in `base` whose worker is dead. None where that cannot be told.
fn held_by_nobody(base: &Path) -> Vec<PathBuf> {
    // While this is held nobody is about to make a sandbox, so that one without a lock was left by a worker that died
    // while it made or removed it.
    let Ok(unmoved) = File::open(base) else {
        return Vec::new();
    };
    if unmoved.lock().is_err() {
        return Vec::new();
    }
    let entries = fs::read_dir(base).into_iter().flatten().flatten();
    entries
        .filter(|entry| entry.file_name().to_string_lossy().starts_with(PREFIX))
        .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()))
        .map(|entry| entry.path())
        .filter(|path| match File::open(path.join(LOCK)) {
            Ok(lock) => lock.try_lock().is_ok(),
            Err(error) => error.kind() == io::ErrorKind::NotFound,
        })
        .collect()
}

/// Removes `path` if it holds what a worker recorded that died after the sandbox was removed.
fn remove_if_orphaned(path: &Path) {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let Some(sandbox) = name.strip_prefix(RECORDS_PREFIX) else {
        return;
    };
    // In this order: a living worker locks the folder before it removes the sandbox.
    if !sandbox.starts_with(PREFIX) || path.with_file_name(sandbox).exists() {
        return;
    }
    let lock = File::open(path.join(LOCK));
    if lock.is_ok_and(|lock| lock.try_lock().is_err()) {
        return;
    }
    let _ = remove(path);
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn a_sandbox_is_its_owners_alone_and_goes_when_dropped() {
        let base = tempfile::tempdir().unwrap();
        let folder = Folder::make(&base.path().join("sandboxes")).unwrap();
        let home = folder.inner("home").unwrap();
        for path in [folder.path(), &home] {
            assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o700);
        }
        let path = folder.path().to_owned();
        drop(folder);
        assert!(!path.exists());
    }

    #[test]
    fn read_only_folders_and_links_out_do_not_stop_the_removal() {
        let base = tempfile::tempdir().unwrap();
        let outside = tempfile::tempdir().unwrap();
        fs::write(outside.path().join("precious"), "").unwrap();
        let folder = Folder::make(base.path()).unwrap();
        let cache = folder.inner("cache").unwrap();
        fs::write(cache.join("module"), "").unwrap();
        std::os::unix::fs::symlink(outside.path(), cache.join("link")).unwrap();
        fs::set_permissions(&cache, Permissions::from_mode(0o500)).unwrap();
        let path = folder.path().to_owned();
        drop(folder);
        assert!(!path.exists());
        assert!(outside.path().join("precious").exists());
    }

    #[test]
    fn only_sandboxes_that_nobody_holds_are_stale() {
        let base = tempfile::tempdir().unwrap();
        let held = Folder::make(base.path()).unwrap();
        let lost = base.path().join("attempt-lost");
        fs::create_dir(&lost).unwrap();
        fs::write(lost.join(LOCK), "").unwrap();
        let (records, of_held) = (records_beside(&lost), held.beside().unwrap());
        fs::create_dir(&records).unwrap();
        let begun = base.path().join("attempt-that-was-only-begun");
        fs::create_dir(&begun).unwrap();
        fs::create_dir(base.path().join("something-else")).unwrap();
        assert_eq!(remove_stale(base.path()), 2);
        assert!(!lost.exists() && !records.exists() && !begun.exists());
        assert!(held.path().exists() && of_held.path().exists());
        assert!(base.path().join("something-else").exists());
    }

    #[test]
    fn a_sandbox_that_is_about_to_be_made_is_waited_for() {
        let base = tempfile::tempdir().unwrap();
        let making = File::open(base.path()).unwrap();
        making.lock_shared().unwrap();
        let path = base.path().join("attempt-about-to-be-made");
        fs::create_dir(&path).unwrap();
        let sweep = {
            let base = base.path().to_owned();
            std::thread::spawn(move || remove_stale(&base))
        };
        let lock = hold(&path).unwrap();
        drop(making);
        assert_eq!(sweep.join().unwrap(), 0);
        assert!(path.exists());
        drop(lock);
        assert_eq!(remove_stale(base.path()), 1);
    }

    #[test]
    fn records_whose_sandbox_is_gone_stay_only_while_their_worker_lives() {
        let base = tempfile::tempdir().unwrap();
        let orphans =
            ["records-of-attempt-unlocked", "records-of-attempt-without-lock"].map(|name| base.path().join(name));
        for orphan in &orphans {
            fs::create_dir(orphan).unwrap();
            fs::write(orphan.join("stdout"), "").unwrap();
        }
        fs::write(orphans[0].join(LOCK), "").unwrap();
        let others = base.path().join("records-of-others");
        fs::create_dir(&others).unwrap();
        let folder = Folder::make(base.path()).unwrap();
        let records = folder.beside().unwrap();
        drop(folder);
        // The locks of later records do not loosen earlier ones.
        let _later = Folder::make(base.path()).unwrap().beside().unwrap();
        assert_eq!(remove_stale(base.path()), 0);
        assert!(orphans.iter().all(|orphan| !orphan.exists()));
        assert!(records.path().exists() && others.exists());
        let path = records.path().to_owned();
        drop(records);
        assert!(!path.exists());
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn what_a_dead_worker_left_running_is_killed_with_its_folder() {
        let base = tempfile::tempdir().unwrap();
        let lost = base.path().join("attempt-lost-agent");
        fs::create_dir(&lost).unwrap();
        fs::write(lost.join(LOCK), "").unwrap();
        let mut agent = std::process::Command::new("sleep")
            .arg("600")
            .env(super::super::tree::MARKER, "attempt-lost-agent")
            .spawn()
            .unwrap();
        assert_eq!(remove_stale(base.path()), 1);
        let status = agent.wait().unwrap();
        assert_eq!(std::os::unix::process::ExitStatusExt::signal(&status), Some(9));
    }
}
