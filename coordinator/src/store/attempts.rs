//! Attempts in pages: a transaction reads a page of compressed records, and they are decoded after it.

use mcproctor_proto::id::RunId;
use mcproctor_proto::turn::Usage;
use rusqlite::{Connection, OptionalExtension, Row, params};

use super::error::StoreError;
use super::filter::AttemptFilter;
use super::row::from_compressed_json;
use crate::record::AttemptRecord;

/// Rows at most in a page.
pub(super) const PAGE_ROWS: usize = 256;

/// Compressed bytes after which a page takes no further row.
pub(super) const PAGE_BYTES: usize = 4 << 20;

const NEXT_PAGE: &str =
    "SELECT cell, iteration, attempt, last, json FROM attempt JOIN record ON record.key = attempt.record
    WHERE run = ?1 AND (cell, iteration, attempt) > (?2, ?3, ?4) AND cell <= ?5 AND (last OR NOT ?6) AND attempt.record <= ?8
    ORDER BY cell, iteration, attempt LIMIT ?7";

/// Cell, iteration and attempt: the order of everything here.
type Position = (u32, u32, u32);

/// An attempt as it lies in the database.
#[derive(Debug)]
pub(super) struct Stored {
    position: Position,
    last: bool,
    json: Vec<u8>,
}

impl Stored {
    fn of(row: &Row<'_>) -> rusqlite::Result<Self> {
        Ok(Self {
            position: (row.get(0)?, row.get(1)?, row.get(2)?),
            last: row.get(3)?,
            json: row.get(4)?,
        })
    }

    pub(super) fn position(&self) -> (u32, u32, u32) {
        self.position
    }

    pub(super) fn stored_bytes(&self) -> usize {
        self.json.len()
    }

    /// The record, with the row's word on whether it is the result: a resumed run changes that.
    pub(super) fn decode(&self, run: &RunId) -> Result<AttemptRecord, StoreError> {
        let (cell, iteration, attempt) = self.position;
        let what = || format!("the record of attempt {cell}-{iteration}-{attempt} of the run {run}");
        let mut record: AttemptRecord = from_compressed_json(&self.json, what)?;
        record.last = self.last;
        Ok(record)
    }
}

/// Walks through the attempts of a run, a page a transaction.
#[derive(Debug)]
pub(super) struct Pages<'a> {
    database: &'a Connection,
    run: i64,
    filter: AttemptFilter,
    after: Option<Position>,
}

impl<'a> Pages<'a> {
    pub(super) fn new(database: &'a Connection, run: i64, filter: AttemptFilter) -> Self {
        Self {
            database,
            run,
            filter,
            after: None,
        }
    }

    /// The next rows; none when there are no more.
    pub(super) fn next_page(&mut self) -> rusqlite::Result<Vec<Stored>> {
        let (first_cell, last_cell) = self.filter.cell.map_or((0, u32::MAX), |cell| (cell, cell));
        // Iterations and attempts start at 1, so everything comes after this.
        let (cell, iteration, attempt) = self.after.unwrap_or((first_cell, 0, 0));
        let mut statement = self.database.prepare_cached(NEXT_PAGE)?;
        let mut rows = statement.query(params![
            self.run,
            cell,
            iteration,
            attempt,
            last_cell,
            self.filter.last_only,
            PAGE_ROWS as i64,
            self.filter.up_to.map_or(i64::MAX, |watermark| watermark.record)
        ])?;
        let mut page = Vec::new();
        let mut bytes = 0;
        while bytes < PAGE_BYTES
            && let Some(row) = rows.next()?
        {
            let stored = Stored::of(row)?;
            bytes += stored.json.len();
            self.after = Some(stored.position);
            page.push(stored);
        }
        Ok(page)
    }
}

/// One attempt.
pub(super) fn one(
    database: &Connection,
    run: i64,
    cell: u32,
    iteration: u32,
    attempt: u32,
) -> rusqlite::Result<Option<Stored>> {
    database
        .prepare_cached(
            "SELECT cell, iteration, attempt, last, json FROM attempt JOIN record ON record.key = attempt.record
             WHERE run = ?1 AND cell = ?2 AND iteration = ?3 AND attempt = ?4",
        )?
        .query_row(params![run, cell, iteration, attempt], Stored::of)
        .optional()
}

/// The next late result and its epoch.
pub(super) fn next_late(
    database: &Connection,
    run: i64,
    after: &mut Option<(Position, i64)>,
) -> rusqlite::Result<Option<(Stored, u64)>> {
    let ((cell, iteration, attempt), epoch) = after.unwrap_or(((0, 0, 0), -1));
    let next: Option<(Stored, i64)> = database
        .prepare_cached(
            "SELECT cell, iteration, attempt, 0, json, epoch FROM late JOIN record ON record.key = late.record
             WHERE run = ?1 AND (cell, iteration, attempt, epoch) > (?2, ?3, ?4, ?5)
             ORDER BY cell, iteration, attempt, epoch LIMIT 1",
        )?
        .query_row(params![run, cell, iteration, attempt, epoch], |row| {
            Ok((Stored::of(row)?, row.get(5)?))
        })
        .optional()?;
    Ok(next.map(|(stored, epoch)| {
        *after = Some((stored.position, epoch));
        (stored, u64::try_from(epoch).unwrap_or(0))
    }))
}

/// How many late results there are, and what they cost.
pub(super) fn late_cost(database: &Connection, run: i64) -> rusqlite::Result<(u64, Usage)> {
    // SQLite's own sum of integers is an error where it is too large.
    let mut late = database.prepare_cached("SELECT input_tokens, output_tokens, cost_usd FROM late WHERE run = ?1")?;
    let mut rows = late.query([run])?;
    let mut count = 0;
    let mut sum = Usage::default();
    while let Some(row) = rows.next()? {
        let tokens = |index: usize| -> rusqlite::Result<Option<u64>> {
            let tokens: Option<i64> = row.get(index)?;
            Ok(tokens.map(|tokens| u64::try_from(tokens).unwrap_or(0)))
        };
        count += 1;
        sum.add(&Usage {
            input_tokens: tokens(0)?,
            output_tokens: tokens(1)?,
            cached_input_tokens: None,
            cost_usd: row.get(2)?,
        });
    }
    Ok((count, sum))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may fail by panicking")]

    use super::*;
    use crate::store::layout::Layout;
    use crate::store::schema;

    /// `attempts` attempts of run 1, whose records are `bytes` long.
    fn filled(attempts: u32, bytes: usize) -> (tempfile::TempDir, Connection) {
        let folder = tempfile::tempdir().unwrap();
        let layout = Layout::new(folder.path());
        layout.create().unwrap();
        let database = schema::open_writer(&layout).unwrap();
        database
            .execute_batch("BEGIN; INSERT INTO run VALUES (1, 'r1', 'running', 0, '', 1, 1, 1, x'')")
            .unwrap();
        for number in 0..attempts {
            let (cell, iteration) = (number / 10_000, number % 10_000 + 1);
            let record = database
                .prepare_cached("INSERT INTO record (json) VALUES (zeroblob(?1))")
                .unwrap()
                .insert([bytes as i64])
                .unwrap();
            database
                .prepare_cached("INSERT INTO attempt VALUES (1, ?1, ?2, 1, 1, 'passed', '', 1, 'w', 1, ?3)")
                .unwrap()
                .execute(params![cell, iteration, record])
                .unwrap();
        }
        database.execute_batch("COMMIT").unwrap();
        (folder, database)
    }

    #[test]
    fn a_walk_through_twenty_thousand_attempts_holds_one_page_at_a_time() {
        let (_folder, database) = filled(20_000, 30);
        let mut pages = Pages::new(&database, 1, AttemptFilter::ALL);
        let (mut seen, mut previous) = (0, None);
        loop {
            let page = pages.next_page().unwrap();
            if page.is_empty() {
                break;
            }
            assert!(page.len() <= PAGE_ROWS);
            // The transaction is over once the page is there: a reader never holds back the log's clean-up.
            assert!(database.is_autocommit() && !database.is_busy());
            for row in page {
                assert!(previous < Some(row.position));
                previous = Some(row.position);
                seen += 1;
            }
        }
        assert_eq!(seen, 20_000);
    }

    #[test]
    fn a_page_of_large_records_is_bounded_in_bytes() {
        let (_folder, database) = filled(20, 1 << 20);
        let mut pages = Pages::new(&database, 1, AttemptFilter::ALL);
        let mut sizes = Vec::new();
        loop {
            match pages.next_page().unwrap().len() {
                0 => break,
                rows => sizes.push(rows),
            }
        }
        assert_eq!(sizes, [PAGE_BYTES >> 20; 5]);
    }

    #[test]
    fn a_page_is_found_by_the_key_and_never_by_scanning_or_sorting() {
        let (_folder, database) = filled(1, 1);
        let plan: Vec<String> = database
            .prepare(&format!("EXPLAIN QUERY PLAN {NEXT_PAGE}"))
            .unwrap()
            .query_map(params![1, 0, 0, 0, 9, false, 256, i64::MAX], |row| row.get(3))
            .unwrap()
            .collect::<Result<_, _>>()
            .unwrap();
        assert_eq!(plan.len(), 2, "{plan:?}");
        assert!(
            plan[0].contains("SEARCH attempt USING PRIMARY KEY (run=? AND (cell,iteration,attempt)>(?,?,?)"),
            "{plan:?}"
        );
        assert!(plan[1].contains("SEARCH record USING INTEGER PRIMARY KEY"), "{plan:?}");
    }
}
