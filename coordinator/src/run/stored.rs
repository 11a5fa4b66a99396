//! A run in the store, as reports read it.

use std::ops::ControlFlow;

use crate::record::{AttemptRecord, RunRecord, RunState};
use crate::report::{ReportError, RunData};
use crate::store::{AttemptFilter, Reader, StoreError};

/// A run in the store, as it stood when this was made: what is stored later is left out, so that every pass shows the same.
pub(super) struct StoredRun {
    reader: Reader,
    run: RunRecord,
    state: RunState,
    now_unix_ms: i64,
    until_now: AttemptFilter,
}

impl StoredRun {
    pub(super) fn new(reader: Reader, run: RunRecord, state: RunState, now_unix_ms: i64) -> Result<Self, ReportError> {
        let mark = reader.watermark().map_err(unreadable("the attempts"))?;
        Ok(Self {
            reader,
            run,
            state,
            now_unix_ms,
            until_now: AttemptFilter::ALL.up_to(mark),
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
        let mut outcome = Ok(());
        self.reader
            .for_each_attempt(&self.run.id, self.until_now, &mut |attempt| {
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
