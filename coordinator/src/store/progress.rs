//! What a resumed run need not do again.

use std::collections::{BTreeMap, HashSet};

use rusqlite::Connection;

/// How far a run has come. Iterations that are in neither set have not been begun.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// `(cell, iteration)` of those that have a result.
    pub finished: HashSet<(u32, u32)>,
    /// `(cell, iteration)` of those that were given out but have no result.
    pub unfinished: BTreeMap<(u32, u32), Unfinished>,
}

/// An iteration that was given out but has no result.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Unfinished {
    /// The number that its next attempt gets. One that was in flight is given out again under its own number.
    pub next_attempt: u32,
    /// Attempts that count against the most that are allowed; those that were stopped with the run, or by one of its
    /// limits, do not.
    pub spent: u32,
    /// The highest epoch of its leases; the next one's must be higher.
    pub epoch: u64,
    /// Whether an attempt was given out that never came back.
    pub in_flight: bool,
}

/// Reads attempts and leases from one snapshot.
pub(super) fn read(database: &Connection, run: i64) -> rusqlite::Result<Progress> {
    let snapshot = database.unchecked_transaction()?;
    let mut progress = read_attempts(&snapshot, run)?;
    add_leases(&snapshot, run, &mut progress)?;
    Ok(progress)
}

fn read_attempts(database: &Connection, run: i64) -> rusqlite::Result<Progress> {
    let mut statement = database.prepare_cached(
        "SELECT cell, iteration, max(attempt), sum(outcome <> 'aborted' AND class_or_cause <> 'limit'), max(epoch),
                max(last AND outcome <> 'aborted')
         FROM attempt WHERE run = ?1 GROUP BY cell, iteration",
    )?;
    let mut rows = statement.query([run])?;
    let mut progress = Progress::default();
    while let Some(row) = rows.next()? {
        let iteration = (row.get(0)?, row.get(1)?);
        if row.get(5)? {
            progress.finished.insert(iteration);
        } else {
            let unfinished = Unfinished {
                next_attempt: row.get::<_, u32>(2)?.saturating_add(1),
                spent: row.get(3)?,
                epoch: u64::try_from(row.get::<_, i64>(4)?).unwrap_or(0),
                in_flight: false,
            };
            progress.unfinished.insert(iteration, unfinished);
        }
    }
    Ok(progress)
}

fn add_leases(database: &Connection, run: i64, progress: &mut Progress) -> rusqlite::Result<()> {
    let mut statement = database.prepare_cached("SELECT cell, iteration, attempt, epoch FROM lease WHERE run = ?1")?;
    let mut rows = statement.query([run])?;
    while let Some(row) = rows.next()? {
        let iteration = (row.get(0)?, row.get(1)?);
        if progress.finished.contains(&iteration) {
            continue;
        }
        let unfinished = progress.unfinished.entry(iteration).or_default();
        unfinished.in_flight = true;
        unfinished.next_attempt = unfinished.next_attempt.max(row.get(2)?);
        unfinished.epoch = unfinished.epoch.max(u64::try_from(row.get::<_, i64>(3)?).unwrap_or(0));
    }
    Ok(())
}
