//! The reading side: a connection of its own, and no transaction longer than a page.

use std::ops::ControlFlow;
use std::path::Path;

use mcproctor_proto::id::RunId;
use mcproctor_proto::turn::Usage;
use rusqlite::{Connection, OptionalExtension};

use super::error::StoreError;
use super::evidence_reader::EvidenceReader;
use super::filter::{AttemptFilter, Watermark};
use super::hash::ContentHash;
use super::head::{self, RunHead};
use super::layout::Layout;
use super::progress::{self, Progress};
use super::row::{from_compressed_json, state_from};
use super::schema;
use super::tally::{self, CellTally};
use super::{attempts, judgements, place, run_lock};
use crate::event::AttemptKey;
use crate::judge::Judgement;
use crate::record::{AttemptRecord, RunRecord, RunState};

/// Reads a store, also while others write to it. Its methods block; it can be sent to another thread.
#[derive(Debug)]
pub struct Reader {
    layout: Layout,
    database: Connection,
}

/// A result that came too late to count.
#[derive(Clone, Debug)]
pub struct LateAttempt {
    /// The epoch of the lease that it ran under.
    pub epoch: u64,
    /// The attempt.
    pub record: AttemptRecord,
}

/// An attempt as it is stored.
#[derive(Debug)]
pub struct StoredAttempt {
    run: RunId,
    row: attempts::Stored,
}

impl StoredAttempt {
    /// Index of the cell, from 0.
    pub fn cell(&self) -> u32 {
        self.row.position().0
    }

    /// Number of the iteration in its cell, from 1.
    pub fn iteration(&self) -> u32 {
        self.row.position().1
    }

    /// Number of the attempt, from 1.
    pub fn attempt(&self) -> u32 {
        self.row.position().2
    }

    /// Compressed bytes of its record.
    pub fn stored_bytes(&self) -> usize {
        self.row.stored_bytes()
    }

    /// Its record.
    ///
    /// # Errors
    /// [`StoreError::Unreadable`] when it is damaged.
    pub fn decode(&self) -> Result<AttemptRecord, StoreError> {
        self.row.decode(&self.run)
    }
}

impl Reader {
    /// Opens the store in `dir` for reading; creates none. One that an older version has written is brought up to date first,
    /// and for that `dir` has to be writable.
    ///
    /// # Errors
    /// [`StoreError::Missing`] when there is none, [`StoreError::Newer`], [`StoreError::Foreign`], or what the file
    /// system refuses.
    pub fn open(dir: &Path) -> Result<Self, StoreError> {
        Self::of(Layout::new(dir))
    }

    pub(super) fn of(layout: Layout) -> Result<Self, StoreError> {
        let database = schema::open_reader(&layout)?;
        Ok(Self { layout, database })
    }

    /// Another reader of the same store, with a connection of its own.
    ///
    /// # Errors
    /// As [`Reader::open`].
    pub fn another(&self) -> Result<Self, StoreError> {
        Self::of(self.layout.clone())
    }

    /// The runs, the newest first.
    ///
    /// # Errors
    /// What SQLite refuses.
    pub fn runs(&self) -> Result<Vec<RunHead>, StoreError> {
        let mut heads = self.sql(head::read(&self.database))?;
        for head in &mut heads {
            head.active = run_lock::is_active(&self.layout, &head.id);
        }
        Ok(heads)
    }

    /// The newest run that was held, and not graded from another one.
    ///
    /// # Errors
    /// What SQLite refuses.
    pub fn latest_held_run(&self) -> Result<Option<RunId>, StoreError> {
        let mut runs = self.runs()?.into_iter();
        Ok(runs.find(|head| head.graded_from.is_none()).map(|head| head.id))
    }

    /// A run and how it stands.
    ///
    /// # Errors
    /// [`StoreError::Unreadable`] for a damaged record, or what SQLite refuses.
    pub fn run(&self, run: &RunId) -> Result<Option<(RunRecord, RunState)>, StoreError> {
        let found: Option<(String, Vec<u8>)> = self.sql(
            self.database
                .query_row("SELECT state, record FROM run WHERE id = ?1", [run.as_str()], |row| {
                    Ok((row.get(0)?, row.get(1)?))
                })
                .optional(),
        )?;
        let Some((state, record)) = found else { return Ok(None) };
        let what = || format!("the record of the run {run}");
        let state = state_from(&state).ok_or_else(|| StoreError::Unreadable {
            what: what(),
            why: format!("unknown state {state:?}"),
        })?;
        Ok(Some((from_compressed_json(&record, what)?, state)))
    }

    /// This moment: everything that is stored later lies beyond it. For reports that walk through a growing run more than
    /// once and have to say the same each time.
    ///
    /// # Errors
    /// What SQLite refuses.
    pub fn watermark(&self) -> Result<Watermark, StoreError> {
        // Neither is ever deleted, so their keys only grow.
        let newest = self.database.query_row(
            "SELECT (SELECT ifnull(max(key), 0) FROM record), (SELECT ifnull(max(key), 0) FROM judgement)",
            [],
            |row| {
                Ok(Watermark {
                    record: row.get(0)?,
                    judgement: row.get(1)?,
                })
            },
        );
        self.sql(newest)
    }

    /// Visits attempts in the order of cell, iteration and attempt, one at a time: memory does not grow with the run.
    /// Attempts that are stored meanwhile are seen when their place in the order is still ahead.
    ///
    /// # Errors
    /// [`StoreError::NoSuchRun`], [`StoreError::Unreadable`] for a damaged record, or what SQLite refuses.
    pub fn for_each_attempt(
        &self,
        run: &RunId,
        filter: AttemptFilter,
        visit: &mut dyn FnMut(AttemptRecord) -> ControlFlow<()>,
    ) -> Result<(), StoreError> {
        let mut damaged = Ok(());
        self.for_each_stored(run, filter, &mut |stored| match stored.decode() {
            Ok(record) => visit(record),
            Err(error) => {
                damaged = Err(error);
                ControlFlow::Break(())
            }
        })?;
        damaged
    }

    /// The same, before the records are decoded, so that other threads can do that.
    ///
    /// # Errors
    /// [`StoreError::NoSuchRun`], or what SQLite refuses.
    pub fn for_each_stored(
        &self,
        run: &RunId,
        filter: AttemptFilter,
        visit: &mut dyn FnMut(StoredAttempt) -> ControlFlow<()>,
    ) -> Result<(), StoreError> {
        let key = self.run_key(run)?;
        let mut pages = attempts::Pages::new(&self.database, key, filter);
        loop {
            let page = self.sql(pages.next_page())?;
            if page.is_empty() {
                return Ok(());
            }
            for row in page {
                if visit(StoredAttempt { run: run.clone(), row }).is_break() {
                    return Ok(());
                }
            }
        }
    }

    /// One attempt.
    ///
    /// # Errors
    /// As [`Reader::for_each_attempt`].
    pub fn attempt(
        &self,
        run: &RunId,
        cell: u32,
        iteration: u32,
        attempt: u32,
    ) -> Result<Option<AttemptRecord>, StoreError> {
        let key = self.run_key(run)?;
        let row = self.sql(attempts::one(&self.database, key, cell, iteration, attempt))?;
        row.map(|row| row.decode(run)).transpose()
    }

    /// What the judge said of an attempt, up to a moment if one is given; `None` when it said nothing.
    ///
    /// # Errors
    /// [`StoreError::Unreadable`] for a damaged record, or what SQLite refuses.
    pub fn judgement(
        &self,
        run: &RunId,
        key: AttemptKey,
        up_to: Option<Watermark>,
    ) -> Result<Option<Judgement>, StoreError> {
        let newest = up_to.map_or(i64::MAX, |watermark| watermark.judgement);
        let json = self.sql(judgements::newest(&self.database, run, key, newest))?;
        let AttemptKey {
            cell,
            iteration,
            attempt,
        } = key;
        let what = || format!("what the judge said of attempt {cell}-{iteration}-{attempt} of the run {run}");
        json.map(|json| from_compressed_json(&json, what)).transpose()
    }

    /// How many iterations that passed or failed have no opinion of the judge.
    ///
    /// # Errors
    /// [`StoreError::NoSuchRun`], or what SQLite refuses.
    pub fn unjudged(&self, run: &RunId) -> Result<u64, StoreError> {
        let key = self.run_key(run)?;
        self.sql(judgements::missing(&self.database, key))
    }

    /// Visits the results that came too late to count, in order.
    ///
    /// # Errors
    /// As [`Reader::for_each_attempt`].
    pub fn for_each_late(
        &self,
        run: &RunId,
        visit: &mut dyn FnMut(LateAttempt) -> ControlFlow<()>,
    ) -> Result<(), StoreError> {
        let key = self.run_key(run)?;
        let mut after = None;
        while let Some((row, epoch)) = self.sql(attempts::next_late(&self.database, key, &mut after))? {
            if visit(LateAttempt {
                epoch,
                record: row.decode(run)?,
            })
            .is_break()
            {
                break;
            }
        }
        Ok(())
    }

    /// How many results came too late, and what they cost together.
    ///
    /// # Errors
    /// [`StoreError::NoSuchRun`], or what SQLite refuses.
    pub fn late_cost(&self, run: &RunId) -> Result<(u64, Usage), StoreError> {
        let key = self.run_key(run)?;
        self.sql(attempts::late_cost(&self.database, key))
    }

    /// Counts of every cell that has attempts.
    ///
    /// # Errors
    /// [`StoreError::NoSuchRun`], or what SQLite refuses.
    pub fn tallies(&self, run: &RunId) -> Result<Vec<CellTally>, StoreError> {
        let key = self.run_key(run)?;
        self.sql(tally::read(&self.database, key))
    }

    /// What a resumed run need not do again.
    ///
    /// # Errors
    /// [`StoreError::NoSuchRun`], or what SQLite refuses.
    pub fn progress(&self, run: &RunId) -> Result<Progress, StoreError> {
        let key = self.run_key(run)?;
        self.sql(progress::read(&self.database, key))
    }

    /// A piece of evidence as a whole, verified; `None` when it was never stored.
    ///
    /// # Errors
    /// [`StoreError::CorruptEvidence`] when it is not what was stored, [`StoreError::BadHash`], or what the system
    /// refuses.
    pub fn evidence(&self, sha256: &str) -> Result<Option<Vec<u8>>, StoreError> {
        self.evidence_reader(sha256)?
            .map(EvidenceReader::read_whole)
            .transpose()
    }

    /// A piece of evidence as a stream; `None` when it was never stored.
    ///
    /// # Errors
    /// As [`Reader::evidence`]; what is wrong further on is told while reading.
    pub fn evidence_reader(&self, sha256: &str) -> Result<Option<EvidenceReader>, StoreError> {
        let hash = ContentHash::parse(sha256)?;
        let located = self.sql(place::locate(&self.database, &hash))?;
        located
            .map(|located| EvidenceReader::open(located, &located.path(&self.layout)))
            .transpose()
    }

    /// Whether a piece is here and need not be stored again.
    pub(super) fn knows(&self, hash: &ContentHash) -> Result<bool, StoreError> {
        let located = self.sql(place::locate(&self.database, hash))?;
        Ok(located.is_some_and(|located| located.is_present(&self.layout)))
    }

    fn run_key(&self, run: &RunId) -> Result<i64, StoreError> {
        self.sql(
            self.database
                .query_row("SELECT key FROM run WHERE id = ?1", [run.as_str()], |row| row.get(0))
                .optional(),
        )?
        .ok_or_else(|| StoreError::NoSuchRun { run: run.clone() })
    }

    fn sql<T>(&self, result: rusqlite::Result<T>) -> Result<T, StoreError> {
        result.map_err(|error| StoreError::database(&self.layout.database(), error))
    }
}
