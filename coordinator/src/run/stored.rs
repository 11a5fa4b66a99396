//! A run in the store, as reports read it.

use std::collections::HashSet;
use std::ops::ControlFlow;
use std::sync::{Mutex, PoisonError};

use crate::record::{AttemptRecord, RunRecord, RunState};
use crate::report::{ReportError, RunData};
use crate::store::{AttemptFilter, Reader, StoreError};

/// A run in the store. Attempts that are stored after the first pass are left out of the later ones, so that every pass
/// shows the same.
pub(super) struct StoredRun {
    reader: Reader,
    run: RunRecord,
    state: RunState,
    now_unix_ms: i64,
    seen: Mutex<Option<HashSet<(u32, u32, u32)>>>,
}

impl StoredRun {
    pub(super) fn new(reader: Reader, run: RunRecord, state: RunState, now_unix_ms: i64) -> Self {
        Self {
            reader,
            run,
            state,
            now_unix_ms,
            seen: Mutex::new(None),
        }
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
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let first_pass = seen.is_none();
        let keys = seen.get_or_insert_with(HashSet::new);
        let mut outcome = Ok(());
        self.reader
            .for_each_attempt(&self.run.id, AttemptFilter::ALL, &mut |attempt| {
                let key = (attempt.cell, attempt.iteration, attempt.attempt);
                if first_pass {
                    keys.insert(key);
                } else if !keys.contains(&key) {
                    return ControlFlow::Continue(());
                }
                outcome = visit(attempt);
                if outcome.is_ok() {
                    ControlFlow::Continue(())
                } else {
                    ControlFlow::Break(())
                }
            })
            .map_err(unreadable("the attempts"))?;
        outcome
    }

    fn evidence(&self, sha256: &str) -> Result<Option<Vec<u8>>, ReportError> {
        self.reader.evidence(sha256).map_err(unreadable("a piece of evidence"))
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
