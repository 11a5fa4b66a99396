//! Counts of a cell.

use std::collections::BTreeMap;

use rusqlite::Connection;

use super::row::outcome_from;
use crate::outcome::{FailureClass, InvalidCause, Outcome};

/// What the iterations of one cell came to so far.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CellTally {
    /// Index of the cell, from 0.
    pub cell: u32,
    /// Iterations that passed.
    pub passed: u64,
    /// Iterations that failed, by class.
    pub failed: BTreeMap<FailureClass, u64>,
    /// Iterations that stayed invalid, by cause.
    pub invalid: BTreeMap<InvalidCause, u64>,
    /// Iterations that were stopped while they went on.
    pub aborted: u64,
    /// Attempts, results included.
    pub attempts: u64,
    /// Invalid attempts that another attempt followed, by cause.
    pub retried: BTreeMap<InvalidCause, u64>,
    /// Time spent in all attempts, in milliseconds.
    pub duration_ms: u64,
}

impl CellTally {
    /// Iterations that failed.
    pub fn failed_total(&self) -> u64 {
        self.failed.values().sum()
    }

    fn add(&mut self, outcome: Outcome, last: bool, number: u64, duration_ms: u64) {
        self.attempts += number;
        self.duration_ms = self.duration_ms.saturating_add(duration_ms);
        match (outcome, last) {
            (Outcome::Passed, true) => self.passed += number,
            (Outcome::Failed(class), true) => *self.failed.entry(class).or_default() += number,
            (Outcome::Invalid(cause), true) => *self.invalid.entry(cause).or_default() += number,
            (Outcome::Invalid(cause), false) => *self.retried.entry(cause).or_default() += number,
            (Outcome::Aborted, true) => self.aborted += number,
            (Outcome::Passed | Outcome::Failed(_) | Outcome::Aborted, false) => {}
        }
    }
}

/// Counts the cells that have any attempt, in their order.
pub(super) fn read(database: &Connection, run: i64) -> rusqlite::Result<Vec<CellTally>> {
    let mut statement = database.prepare_cached(
        "SELECT cell, outcome, class_or_cause, last, count(*), sum(duration_ms) FROM attempt
         WHERE run = ?1 GROUP BY cell, outcome, class_or_cause, last ORDER BY cell",
    )?;
    let mut rows = statement.query([run])?;
    let mut cells: Vec<CellTally> = Vec::new();
    while let Some(row) = rows.next()? {
        let cell = row.get(0)?;
        let (name, detail): (String, String) = (row.get(1)?, row.get(2)?);
        let count = |value: i64| u64::try_from(value).unwrap_or(0);
        if cells.last().is_none_or(|tally| tally.cell != cell) {
            cells.push(CellTally {
                cell,
                ..CellTally::default()
            });
        }
        if let (Some(tally), Some(outcome)) = (cells.last_mut(), outcome_from(&name, &detail)) {
            tally.add(outcome, row.get(3)?, count(row.get(4)?), count(row.get(5)?));
        }
    }
    Ok(cells)
}
