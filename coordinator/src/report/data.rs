//! Where reports read a run from.

use std::collections::HashMap;

use crate::judge::Judgement;
use crate::record::{AttemptRecord, RunRecord, RunState};

use super::ReportError;

/// A run as reports read it: plan, state and attempts, a few at a time.
///
/// Several threads ask at the same time: one walks through the attempts, others look into evidence.
pub trait RunData: Sync {
    /// The run as it was planned.
    fn run(&self) -> &RunRecord;

    /// How it stands.
    fn state(&self) -> RunState;

    /// Visits every attempt that has a result, ordered by cell, iteration and attempt. Reports call it once; whoever calls
    /// it more than once is shown the same attempts each time.
    ///
    /// # Errors
    ///
    /// When the records cannot be read, and whatever `visit` returns.
    fn for_each_attempt(
        &self,
        visit: &mut dyn FnMut(AttemptRecord) -> Result<(), ReportError>,
    ) -> Result<(), ReportError>;

    /// The same, but whoever wants a record reads it, on a thread of its choice. Worth implementing where reading a record
    /// takes time, as it does where records are compressed.
    ///
    /// # Errors
    ///
    /// As [`RunData::for_each_attempt`].
    fn for_each_pending(
        &self,
        visit: &mut dyn FnMut(PendingAttempt) -> Result<(), ReportError>,
    ) -> Result<(), ReportError> {
        self.for_each_attempt(&mut |record| visit(record.into()))
    }

    /// What the judge said of an attempt; `None` when it said nothing, as of a run without a judge.
    ///
    /// # Errors
    ///
    /// When it is there and cannot be read.
    fn judgement(&self, cell: u32, iteration: u32, attempt: u32) -> Result<Option<Judgement>, ReportError> {
        let _ = (cell, iteration, attempt);
        Ok(None)
    }

    /// A piece of evidence by its hash, uncompressed; `None` when it is not there.
    ///
    /// # Errors
    ///
    /// When it is there and cannot be read.
    fn evidence(&self, sha256: &str) -> Result<Option<Vec<u8>>, ReportError>;

    /// The time of writing, in milliseconds of Unix time.
    fn now_unix_ms(&self) -> i64;
}

/// An attempt of which only the name is known so far.
pub struct PendingAttempt {
    /// Index of the cell, from 0.
    pub cell: u32,
    /// Number of the iteration in its cell, from 1.
    pub iteration: u32,
    /// Number of the attempt, from 1.
    pub attempt: u32,
    /// How many bytes it takes where it is kept; 0 when it has been read already.
    pub stored_bytes: usize,
    read: Box<dyn FnOnce() -> Result<AttemptRecord, ReportError> + Send>,
}

impl PendingAttempt {
    /// The attempt of that name; `read` is called once, or never.
    pub fn new(
        (cell, iteration, attempt): (u32, u32, u32),
        stored_bytes: usize,
        read: impl FnOnce() -> Result<AttemptRecord, ReportError> + Send + 'static,
    ) -> Self {
        Self {
            cell,
            iteration,
            attempt,
            stored_bytes,
            read: Box::new(read),
        }
    }

    /// Its record.
    ///
    /// # Errors
    ///
    /// When it is damaged.
    pub fn read(self) -> Result<AttemptRecord, ReportError> {
        (self.read)()
    }
}

impl std::fmt::Debug for PendingAttempt {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "PendingAttempt({}-{}-{})", self.cell, self.iteration, self.attempt)
    }
}

impl From<AttemptRecord> for PendingAttempt {
    fn from(record: AttemptRecord) -> Self {
        let name = (record.cell, record.iteration, record.attempt);
        Self::new(name, 0, move || Ok(record))
    }
}

/// A run held in memory.
#[derive(Clone, Debug)]
pub struct MemoryRun {
    /// The run as it was planned.
    pub run: RunRecord,
    /// How it stands.
    pub state: RunState,
    /// Its attempts, in any order.
    pub attempts: Vec<AttemptRecord>,
    /// Evidence by hash.
    pub evidence: HashMap<String, Vec<u8>>,
    /// Milliseconds of Unix time.
    pub now_unix_ms: i64,
}

impl RunData for MemoryRun {
    fn run(&self) -> &RunRecord {
        &self.run
    }

    fn state(&self) -> RunState {
        self.state
    }

    fn for_each_attempt(
        &self,
        visit: &mut dyn FnMut(AttemptRecord) -> Result<(), ReportError>,
    ) -> Result<(), ReportError> {
        let mut ordered: Vec<&AttemptRecord> = self.attempts.iter().collect();
        ordered.sort_by_key(|attempt| (attempt.cell, attempt.iteration, attempt.attempt));
        ordered.into_iter().cloned().try_for_each(visit)
    }

    fn evidence(&self, sha256: &str) -> Result<Option<Vec<u8>>, ReportError> {
        Ok(self.evidence.get(sha256).cloned())
    }

    fn now_unix_ms(&self) -> i64 {
        self.now_unix_ms
    }
}
