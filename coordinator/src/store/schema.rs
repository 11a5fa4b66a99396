//! The database's tables, and how it is opened.

use std::path::Path;
use std::time::{Duration, Instant};

use rusqlite::{Connection, OpenFlags, TransactionBehavior};

use super::error::StoreError;
use super::layout::{Layout, private_file};

/// Marks the file as ours in its header: `mcpr`.
const APPLICATION_ID: i64 = 0x6d63_7072;

/// How long one process waits for another that writes.
const BUSY_TIMEOUT: Duration = Duration::from_secs(30);
/// And how long between two tries where SQLite itself does not wait.
const SWITCH_PAUSE: Duration = Duration::from_millis(5);

/// A schema version a step; `user_version` counts the steps taken. Steps are never edited, only added.
const STEPS: &[&str] = &[
    "
    CREATE TABLE run (
        key                INTEGER PRIMARY KEY,
        id                 TEXT NOT NULL UNIQUE,
        state              TEXT NOT NULL,
        started_at_unix_ms INTEGER NOT NULL,
        config_file        TEXT NOT NULL,
        test_cases         INTEGER NOT NULL,
        agents             INTEGER NOT NULL,
        iterations         INTEGER NOT NULL,
        record             BLOB NOT NULL      -- RunRecord as JSON, compressed
    ) STRICT;

    -- Records lie apart, so that counting attempts reads small rows only.
    CREATE TABLE record (
        key                INTEGER PRIMARY KEY,
        json               BLOB NOT NULL      -- AttemptRecord as JSON, compressed
    ) STRICT;

    CREATE TABLE attempt (
        run                INTEGER NOT NULL REFERENCES run (key),
        cell               INTEGER NOT NULL,
        iteration          INTEGER NOT NULL,
        attempt            INTEGER NOT NULL,
        last               INTEGER NOT NULL,
        outcome            TEXT NOT NULL,
        class_or_cause     TEXT NOT NULL,     -- empty for passed and aborted
        duration_ms        INTEGER NOT NULL,
        worker             TEXT NOT NULL,
        epoch              INTEGER NOT NULL,
        record             INTEGER NOT NULL REFERENCES record (key),
        PRIMARY KEY (run, cell, iteration, attempt)
    ) STRICT, WITHOUT ROWID;

    CREATE UNIQUE INDEX one_result_per_iteration ON attempt (run, cell, iteration) WHERE last;

    -- The journal: attempts that were given out and are not stored yet.
    CREATE TABLE lease (
        run                INTEGER NOT NULL REFERENCES run (key),
        cell               INTEGER NOT NULL,
        iteration          INTEGER NOT NULL,
        attempt            INTEGER NOT NULL,
        epoch              INTEGER NOT NULL,
        worker             TEXT NOT NULL,
        given_at_unix_ms   INTEGER NOT NULL,
        PRIMARY KEY (run, cell, iteration, attempt)
    ) STRICT, WITHOUT ROWID;

    -- Results that came after the first accepted one, or under a lease that was over.
    CREATE TABLE late (
        run                INTEGER NOT NULL REFERENCES run (key),
        cell               INTEGER NOT NULL,
        iteration          INTEGER NOT NULL,
        attempt            INTEGER NOT NULL,
        epoch              INTEGER NOT NULL,
        input_tokens       INTEGER,
        output_tokens      INTEGER,
        cost_usd           REAL,
        record             INTEGER NOT NULL REFERENCES record (key),
        PRIMARY KEY (run, cell, iteration, attempt, epoch)
    ) STRICT, WITHOUT ROWID;

    CREATE TABLE evidence (
        sha256             BLOB NOT NULL PRIMARY KEY,
        kind               TEXT NOT NULL,
        bytes              INTEGER NOT NULL,
        stored_bytes       INTEGER NOT NULL,
        pack               INTEGER,           -- NULL: a file of its own
        position           INTEGER
    ) STRICT, WITHOUT ROWID;

    -- Up to where a pack holds acknowledged pieces.
    CREATE TABLE pack (
        number             INTEGER PRIMARY KEY,
        length             INTEGER NOT NULL
    ) STRICT;
",
    "
    -- What the judge said of attempts; the newest of an attempt counts, so that rows are only ever added.
    CREATE TABLE judgement (
        key                INTEGER PRIMARY KEY,
        run                INTEGER NOT NULL REFERENCES run (key),
        cell               INTEGER NOT NULL,
        iteration          INTEGER NOT NULL,
        attempt            INTEGER NOT NULL,
        settled            INTEGER NOT NULL,  -- 0: asked for again when the run is resumed
        json               BLOB NOT NULL      -- Judgement as JSON, compressed
    ) STRICT;

    CREATE INDEX judgement_of_attempt ON judgement (run, cell, iteration, attempt, key);
",
];

/// The newest schema that this version knows.
const KNOWN: i64 = STEPS.len() as i64;

/// Opens for writing; creates and migrates where needed.
pub(super) fn open_writer(layout: &Layout) -> Result<Connection, StoreError> {
    let path = layout.database();
    // SQLite would create the file readable for everyone; its log files take the rights of this one.
    private_file()
        .create(true)
        .truncate(false)
        .open(&path)
        .map_err(|error| StoreError::io("create", &path, error))?;
    let mut connection = Connection::open_with_flags(
        &path,
        OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX,
    )
    .map_err(|error| StoreError::database(&path, error))?;
    connection
        .busy_timeout(BUSY_TIMEOUT)
        .map_err(|error| StoreError::database(&path, error))?;
    check_version(&connection, &path)?;
    prepare_writer(&mut connection).map_err(|error| StoreError::database(&path, error))?;
    // Another process may have migrated it meanwhile.
    check_version(&connection, &path)?;
    Ok(connection)
}

fn prepare_writer(connection: &mut Connection) -> rusqlite::Result<()> {
    switch_to_wal(connection)?;
    connection.pragma_update(None, "synchronous", "FULL")?;
    // macOS only: without it a sync does not reach the medium.
    connection.pragma_update(None, "fullfsync", true)?;
    connection.pragma_update(None, "foreign_keys", true)?;
    connection.pragma_update(None, "journal_size_limit", 64 << 20)?;
    connection.set_prepared_statement_cache_capacity(64);
    migrate(connection)
}

/// SQLite does not wait by itself for others who switch a new database at the same moment.
fn switch_to_wal(connection: &Connection) -> rusqlite::Result<()> {
    let deadline = Instant::now() + BUSY_TIMEOUT;
    loop {
        match connection.pragma_update(None, "journal_mode", "WAL") {
            Err(error)
                if error.sqlite_error_code() == Some(rusqlite::ErrorCode::DatabaseBusy)
                    && Instant::now() < deadline =>
            {
                std::thread::sleep(SWITCH_PAUSE);
            }
            switched => return switched,
        }
    }
}

fn migrate(connection: &mut Connection) -> rusqlite::Result<()> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let version = user_version(&transaction)?;
    for step in STEPS.iter().skip(usize::try_from(version).unwrap_or(usize::MAX)) {
        transaction.execute_batch(step)?;
    }
    if version < KNOWN {
        transaction.pragma_update(None, "application_id", APPLICATION_ID)?;
        transaction.pragma_update(None, "user_version", KNOWN)?;
    }
    transaction.commit()
}

/// Opens for reading what a writer has created.
pub(super) fn open_reader(layout: &Layout) -> Result<Connection, StoreError> {
    let path = layout.database();
    if !path.is_file() {
        return Err(StoreError::Missing {
            path: layout.root().to_owned(),
        });
    }
    let connection = Connection::open_with_flags(
        &path,
        OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX,
    )
    .map_err(|error| StoreError::database(&path, error))?;
    connection
        .busy_timeout(BUSY_TIMEOUT)
        .map_err(|error| StoreError::database(&path, error))?;
    match check_version(&connection, &path)? {
        0 => Err(StoreError::Missing {
            path: layout.root().to_owned(),
        }),
        KNOWN => Ok(connection),
        // A store of an earlier version gets what it lacks; nothing that it has is touched.
        _ => {
            drop(connection);
            open_writer(layout)?;
            open_reader(layout)
        }
    }
}

/// The schema version, if the database is ours (or empty) and not newer than this program.
fn check_version(connection: &Connection, path: &Path) -> Result<i64, StoreError> {
    let read = || -> rusqlite::Result<(i64, i64, bool)> {
        // One snapshot: another process may be creating the tables right now.
        let snapshot = connection.unchecked_transaction()?;
        let application: i64 = snapshot.pragma_query_value(None, "application_id", |row| row.get(0))?;
        let empty = snapshot.query_row("SELECT count(*) = 0 FROM sqlite_schema", [], |row| row.get(0))?;
        Ok((application, user_version(&snapshot)?, empty))
    };
    let (application, version, empty) = read().map_err(|error| StoreError::database(path, error))?;
    if application != APPLICATION_ID && !empty {
        return Err(StoreError::Foreign { path: path.to_owned() });
    }
    if version > KNOWN {
        return Err(StoreError::Newer {
            path: path.to_owned(),
            found: version,
            known: KNOWN,
        });
    }
    Ok(version)
}

fn user_version(connection: &Connection) -> rusqlite::Result<i64> {
    connection.pragma_query_value(None, "user_version", |row| row.get(0))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may fail by panicking")]

    use super::*;

    /// A database as an earlier version left it after so many steps, with one run in it.
    fn after(steps: usize) -> (tempfile::TempDir, Layout) {
        let folder = tempfile::tempdir().unwrap();
        let layout = Layout::new(folder.path());
        layout.create().unwrap();
        let database = Connection::open(layout.database()).unwrap();
        for step in &STEPS[..steps] {
            database.execute_batch(step).unwrap();
        }
        database
            .execute_batch("INSERT INTO run VALUES (1, 'r1', 'running', 0, '', 1, 1, 1, x'')")
            .unwrap();
        database.pragma_update(None, "application_id", APPLICATION_ID).unwrap();
        database.pragma_update(None, "user_version", steps as i64).unwrap();
        (folder, layout)
    }

    #[test]
    fn a_store_of_every_earlier_version_is_read_and_written_with_what_it_has() {
        type Open = fn(&Layout) -> Result<Connection, StoreError>;
        for steps in 1..=STEPS.len() {
            for open in [open_reader as Open, open_writer as Open] {
                let (_folder, layout) = after(steps);
                let database = open(&layout).unwrap();
                assert_eq!(user_version(&database).unwrap(), KNOWN);
                let count = |table: &str| -> i64 {
                    let sql = format!("SELECT count(*) FROM {table}");
                    database.query_row(&sql, [], |row| row.get(0)).unwrap()
                };
                assert_eq!((count("run"), count("judgement")), (1, 0), "{steps}");
            }
        }
    }
}
