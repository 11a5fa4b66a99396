//! What a resumed run need not do again.

use std::collections::{BTreeMap, HashSet};

use rusqlite::Connection;

/// How far a run has come. Iterations that are in neither set have not been begun.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// `(cell, iteration)` of those that have a result.
    pub finished: HashSet<(u32, u32)>,
    /// `(cell, iteration)` of those that have attempts but no result.
    pub unfinished: BTreeMap<(u32, u32), Unfinished>,
}

/// An iteration that has attempts but no result.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Unfinished {
    /// The number that its next attempt gets.
    pub next_attempt: u32,
    /// Attempts that count against the most that are allowed; those that were stopped with the run do not.
    pub spent: u32,
    /// The highest epoch that an attempt was stored under; the next lease's must be higher.
    pub epoch: u64,
}

pub(super) fn read(database: &Connection, run: i64) -> rusqlite::Result<Progress> {
    let mut statement = database.prepare_cached(
        "SELECT cell, iteration, max(attempt), sum(outcome <> 'aborted'), max(epoch),
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
            };
            progress.unfinished.insert(iteration, unfinished);
        }
    }
    Ok(progress)
}
