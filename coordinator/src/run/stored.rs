//! A run in the store, as reports read it.

use std::ops::ControlFlow;
use std::sync::{Mutex, PoisonError};

use crate::event::AttemptKey;
use crate::judge::Judgement;
use crate::record::{AttemptRecord, RunRecord, RunState};
use crate::report::{PendingAttempt, ReportError, RunData};
use crate::store::{AttemptFilter, Reader, StoreError, Watermark};

/// A run in the store, as it stood when this was made: what is stored later is left out, so that every pass shows the same.
#[derive(Debug)]
pub struct StoredRun {
    reader: Mutex<Reader>,
    /// For evidence, which is asked for while the other one walks.
    evidence: Mutex<Reader>,
    run: RunRecord,
    state: RunState,
    now_unix_ms: i64,
    mark: Watermark,
}

impl StoredRun {
    /// What `reader` has of `run` at this moment.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn new(reader: Reader, run: RunRecord, state: RunState, now_unix_ms: i64) -> Result<Self, ReportError> {
        let mark = reader.watermark().map_err(unreadable("the attempts"))?;
        Ok(Self {
            evidence: Mutex::new(reader.another().map_err(unreadable("the store"))?),
            reader: Mutex::new(reader),
            run,
            state,
            now_unix_ms,
            mark,
        })
    }
}

impl RunData for StoredRun {
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
        self.for_each_pending(&mut |attempt| visit(attempt.read()?))
    }

    fn for_each_pending(
        &self,
        visit: &mut dyn FnMut(PendingAttempt) -> Result<(), ReportError>,
    ) -> Result<(), ReportError> {
        let mut outcome = Ok(());
        self.reader
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .for_each_stored(&self.run.id, AttemptFilter::ALL.up_to(self.mark), &mut |attempt| {
                let name = (attempt.cell(), attempt.iteration(), attempt.attempt());
                outcome = visit(PendingAttempt::new(name, attempt.stored_bytes(), move || {
                    attempt.decode().map_err(unreadable("an attempt"))
                }));
                if outcome.is_ok() {
                    ControlFlow::Continue(())
                } else {
                    ControlFlow::Break(())
                }
            })
            .map_err(unreadable("the attempts"))?;
        outcome
    }

    fn judgement(&self, cell: u32, iteration: u32, attempt: u32) -> Result<Option<Judgement>, ReportError> {
        let key = AttemptKey {
            cell,
            iteration,
            attempt,
        };
        // The other reader walks meanwhile.
        let reader = self.evidence.lock().unwrap_or_else(PoisonError::into_inner);
        reader
            .judgement(&self.run.id, key, Some(self.mark))
            .map_err(unreadable("what the judge said"))
    }

    fn evidence(&self, sha256: &str) -> Result<Option<Vec<u8>>, ReportError> {
        let reader = self.evidence.lock().unwrap_or_else(PoisonError::into_inner);
        reader.evidence(sha256).map_err(unreadable("a piece of evidence"))
    }

    fn now_unix_ms(&self) -> i64 {
        self.now_unix_ms
    }
}

fn unreadable(what: &str) -> impl FnOnce(StoreError) -> ReportError {
    let what = what.to_owned();
    move |source| ReportError::Read {
        what,
        source: Box::new(source),
    }
}
