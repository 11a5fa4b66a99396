//! Where reports read a run from.

use std::collections::HashMap;

use crate::judge::Judgement;
use crate::record::{AttemptRecord, RunRecord, RunState};

use super::ReportError;

/// A run as reports read it: plan, state and attempts, a few at a time.
pub trait RunData {
    /// The run as it was planned.
    fn run(&self) -> &RunRecord;

    /// How it stands.
    fn state(&self) -> RunState;

    /// Visits every attempt that has a result, ordered by cell, iteration and attempt. Reports call it more than once;
    /// every pass has to show the same attempts.
    ///
    /// # Errors
    ///
    /// When the records cannot be read, and whatever `visit` returns.
    fn for_each_attempt(
        &self,
        visit: &mut dyn FnMut(AttemptRecord) -> Result<(), ReportError>,
    ) -> Result<(), ReportError>;

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
