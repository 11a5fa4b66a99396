//! One coordinator a run.

use std::fs::{self, File, TryLockError};
use std::io::{self, Read, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use mcproctor_proto::id::RunId;

use super::error::StoreError;
use super::layout::{Layout, private_file};
use super::row::check_run_id;

/// `is_active` holds a lock for an instant, and that must not look like a coordinator.
const TRIES: u32 = 20;
const BETWEEN_TRIES: Duration = Duration::from_millis(10);

/// The right to carry on a run. Held until it is dropped or the process ends, however it ends: the system lifts the
/// lock, so a killed coordinator leaves nothing that has to be judged stale.
#[derive(Debug)]
pub struct RunLock {
    path: PathBuf,
    // Closing it lifts the lock.
    _file: File,
}

impl RunLock {
    pub(super) fn take(layout: &Layout, run: &RunId) -> Result<Self, StoreError> {
        let path = path_of(layout, run)?;
        let failed = |error| StoreError::io("lock", &path, error);
        let mut tries = 0;
        loop {
            let mut file = private_file()
                .create(true)
                .truncate(false)
                .open(&path)
                .map_err(failed)?;
            match file.try_lock() {
                Ok(()) => {}
                Err(TryLockError::WouldBlock) if tries < TRIES => {
                    tries += 1;
                    thread::sleep(BETWEEN_TRIES);
                    continue;
                }
                Err(TryLockError::WouldBlock) => {
                    return Err(StoreError::RunActive {
                        run: run.clone(),
                        pid: holder(&mut file),
                    });
                }
                Err(TryLockError::Error(error)) => return Err(failed(error)),
            }
            // Its last holder may have removed the file between our opening and locking it.
            if !same_file(&file, &path) {
                continue;
            }
            file.set_len(0)
                .and_then(|()| write!(file, "{}", std::process::id()))
                .map_err(failed)?;
            return Ok(Self { path, _file: file });
        }
    }
}

impl Drop for RunLock {
    fn drop(&mut self) {
        // While the lock is still held, so that nobody else's file is removed.
        let _ = fs::remove_file(&self.path);
    }
}

/// Whether some process is running it right now.
pub(super) fn is_active(layout: &Layout, run: &RunId) -> bool {
    let Ok(path) = path_of(layout, run) else { return false };
    File::open(path).is_ok_and(|file| matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock)))
}

fn path_of(layout: &Layout, run: &RunId) -> Result<PathBuf, StoreError> {
    check_run_id(run)?;
    Ok(layout.locks().join(format!("{run}.lock")))
}

fn same_file(file: &File, path: &Path) -> bool {
    let identity = |meta: fs::Metadata| (meta.dev(), meta.ino());
    match (file.metadata().map(identity), fs::metadata(path).map(identity)) {
        (Ok(ours), Ok(theirs)) => ours == theirs,
        _ => false,
    }
}

fn holder(file: &mut File) -> Option<u32> {
    let mut text = String::new();
    io::Read::by_ref(file).take(20).read_to_string(&mut text).ok()?;
    text.trim().parse().ok()
}
