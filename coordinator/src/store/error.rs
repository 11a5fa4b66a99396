//! What can go wrong between the program and its disk.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use mcproctor_proto::id::RunId;
use thiserror::Error;

/// Why the store could not do what it was asked. One failed commit is told to everyone who waited for it, hence `Clone`.
#[derive(Clone, Debug, Error)]
pub enum StoreError {
    /// There is no store in that folder.
    #[error("find a store in {}", path.display())]
    Missing {
        /// The folder.
        path: PathBuf,
    },
    /// The file is no database, or somebody else's.
    #[error("use {}: it is no database of mcproctor's", path.display())]
    Foreign {
        /// The database.
        path: PathBuf,
    },
    /// A newer version of mcproctor has written it.
    #[error(
        "open {}: a newer mcproctor has written it (schema {found}, this version knows {known}); use that version",
        path.display()
    )]
    Newer {
        /// The database.
        path: PathBuf,
        /// Its schema.
        found: i64,
        /// The newest schema that this version knows.
        known: i64,
    },
    /// No space is left, or a quota is used up.
    #[error("write to {}: the disk is full", path.display())]
    DiskFull {
        /// Where it was written to.
        path: PathBuf,
    },
    /// Another process has held the database for too long.
    #[error("write to {}: another process keeps it locked", path.display())]
    Busy {
        /// The database.
        path: PathBuf,
    },
    /// The system refused.
    #[error("{doing} {}: {source}", path.display())]
    Io {
        /// What was tried: `read`, `sync`.
        doing: &'static str,
        /// On what.
        path: PathBuf,
        /// The system's own word.
        source: Arc<io::Error>,
    },
    /// SQLite refused.
    #[error("use the database {}: {source}", path.display())]
    Database {
        /// The database.
        path: PathBuf,
        /// SQLite's own word.
        source: Arc<rusqlite::Error>,
    },
    /// The name cannot be that of a run: it is also the name of a folder.
    #[error("take {run:?} as the name of a run: only letters, digits, `-`, `_` and `.` may be in it")]
    BadRunId {
        /// The name.
        run: RunId,
    },
    /// The run is there already.
    #[error("create the run {run}: it exists")]
    RunExists {
        /// The run.
        run: RunId,
    },
    /// The run is not there.
    #[error("find the run {run}")]
    NoSuchRun {
        /// The run.
        run: RunId,
    },
    /// Another process is running it.
    #[error("take over the run {run}: {} is running it", process(*pid))]
    RunActive {
        /// The run.
        run: RunId,
        /// That process, where it is known.
        pid: Option<u32>,
    },
    /// An attempt refers to evidence that was never stored.
    #[error("store an attempt: its evidence {sha256} is not there")]
    MissingEvidence {
        /// The content hash, in hex.
        sha256: String,
    },
    /// It is not 64 hex digits.
    #[error("read {text:?} as a SHA-256: 64 hex digits are needed")]
    BadHash {
        /// What was given.
        text: String,
    },
    /// The bytes are not those that were announced.
    #[error("store the evidence {sha256}: the bytes have the hash {found}")]
    WrongHash {
        /// The hash that was announced.
        sha256: String,
        /// The hash that the bytes have.
        found: String,
    },
    /// There are more or fewer bytes than announced.
    #[error("store the evidence {sha256}: {announced} bytes were announced, {found} came")]
    WrongSize {
        /// The content hash, in hex.
        sha256: String,
        /// What was announced.
        announced: u64,
        /// What came.
        found: u64,
    },
    /// An upload wants to go on past what is there.
    #[error("go on with the upload of {sha256} at byte {offset}: only {have} are there")]
    WrongOffset {
        /// The content hash, in hex.
        sha256: String,
        /// Where the upload wanted to go on.
        offset: u64,
        /// Where it has to.
        have: u64,
    },
    /// A stored piece is damaged.
    #[error("read the evidence {sha256} in {}: {why}", place.display())]
    CorruptEvidence {
        /// The content hash, in hex.
        sha256: String,
        /// The pack or file that holds it.
        place: PathBuf,
        /// What is wrong with it.
        why: String,
    },
    /// A stored record cannot be read.
    #[error("read {what}: {why}")]
    Unreadable {
        /// Which record.
        what: String,
        /// What is wrong with it.
        why: String,
    },
    /// The writing thread is gone, so nothing more can be stored.
    #[error("reach the store's writer: it has ended")]
    WriterGone,
}

fn process(pid: Option<u32>) -> String {
    pid.map_or_else(|| "another process".to_owned(), |pid| format!("process {pid}"))
}

impl StoreError {
    /// Whether space has to be made before going on.
    pub fn is_disk_full(&self) -> bool {
        matches!(self, Self::DiskFull { .. })
    }

    pub(super) fn io(doing: &'static str, path: &Path, source: io::Error) -> Self {
        match source.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => Self::DiskFull { path: path.to_owned() },
            _ => Self::Io {
                doing,
                path: path.to_owned(),
                source: Arc::new(source),
            },
        }
    }

    pub(super) fn database(path: &Path, source: rusqlite::Error) -> Self {
        let path = path.to_owned();
        match source.sqlite_error_code() {
            Some(rusqlite::ErrorCode::DiskFull) => Self::DiskFull { path },
            Some(rusqlite::ErrorCode::DatabaseBusy | rusqlite::ErrorCode::DatabaseLocked) => Self::Busy { path },
            Some(rusqlite::ErrorCode::NotADatabase) => Self::Foreign { path },
            _ => Self::Database {
                path,
                source: Arc::new(source),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may fail by panicking")]

    use std::io::Write;

    use super::*;

    #[test]
    #[cfg(target_os = "linux")]
    fn a_full_disk_is_told_apart_from_other_write_errors() {
        let mut full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        let refusal = full.write_all(b"x").unwrap_err();
        assert!(StoreError::io("write", Path::new("/dev/full"), refusal).is_disk_full());

        let missing = std::fs::read("/nonexistent/evidence").unwrap_err();
        assert!(!StoreError::io("read", Path::new("/nonexistent/evidence"), missing).is_disk_full());
    }

    #[test]
    fn a_database_that_may_not_grow_counts_as_a_full_disk() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("full.db");
        let db = rusqlite::Connection::open(&path).unwrap();
        db.execute_batch("PRAGMA max_page_count = 4; CREATE TABLE t (b BLOB);")
            .unwrap();
        let refusal = db.execute("INSERT INTO t VALUES (zeroblob(100000))", []).unwrap_err();
        assert!(StoreError::database(&path, refusal).is_disk_full());
    }
}
