//! From a stream of attempts to a stream of iterations.

use mcproctor_proto::turn::Usage;

use crate::judge::Judgement;
use crate::outcome::Outcome;
use crate::record::AttemptRecord;

use super::{ReportError, RunData};

/// An iteration with its attempts so far.
#[derive(Clone, Debug)]
pub struct Iteration {
    /// Index of the cell, from 0.
    pub cell: usize,
    /// Number of the iteration in its cell, from 1.
    pub number: u32,
    /// Attempts that another one followed, or will follow.
    pub earlier: Vec<EarlierAttempt>,
    /// The attempt that is the iteration's result; `None` while a new attempt is due.
    pub result: Option<AttemptRecord>,
    /// What the judge said of it.
    pub judgement: Option<Judgement>,
}

impl Iteration {
    /// Attempts so far.
    pub fn attempts(&self) -> usize {
        self.earlier.len() + usize::from(self.result.is_some())
    }
}

/// What is told of an attempt that is not the iteration's result.
#[derive(Clone, Debug)]
pub struct EarlierAttempt {
    /// Number of the attempt, from 1.
    pub attempt: u32,
    /// What it came to.
    pub outcome: Outcome,
    /// Why, in words.
    pub reason: String,
    /// Milliseconds of Unix time.
    pub started_at_unix_ms: i64,
    /// Milliseconds.
    pub duration_ms: u64,
    /// The worker that ran it.
    pub worker: String,
    /// What it cost.
    pub usage: Usage,
}

impl From<AttemptRecord> for EarlierAttempt {
    fn from(record: AttemptRecord) -> Self {
        Self {
            usage: usage_of(&record),
            attempt: record.attempt,
            outcome: record.outcome,
            reason: record.reason,
            started_at_unix_ms: record.started_at_unix_ms,
            duration_ms: record.duration_ms,
            worker: record.worker,
        }
    }
}

/// Tokens and money of an attempt, over all its turns.
pub(super) fn usage_of(record: &AttemptRecord) -> Usage {
    let mut usage = Usage::default();
    for turn in &record.turns {
        usage.add(&turn.usage);
    }
    usage
}

/// Visits every iteration that has at least one attempt, ordered by cell and number; holds one at a time.
///
/// # Errors
///
/// When attempts cannot be read, come out of order or name a cell that the run does not have, and whatever `visit` returns.
pub fn for_each_iteration(
    data: &dyn RunData,
    visit: &mut dyn FnMut(&Iteration) -> Result<(), ReportError>,
) -> Result<(), ReportError> {
    let cells = data.run().cells();
    let judged = data.run().judge.is_some();
    let mut current: Option<Iteration> = None;
    let mut newest = None;
    data.for_each_attempt(&mut |record| {
        let key = (record.cell, record.iteration, record.attempt);
        if newest.is_some_and(|newest| newest >= key) {
            return Err(ReportError::OutOfOrder {
                cell: record.cell,
                iteration: record.iteration,
                attempt: record.attempt,
            });
        }
        newest = Some(key);
        let cell = record.cell as usize;
        if cell >= cells {
            return Err(ReportError::UnknownCell {
                cell: record.cell,
                cells,
            });
        }
        if let Some(complete) = current.take_if(|it| (it.cell, it.number) != (cell, record.iteration)) {
            visit(&complete)?;
        }
        let iteration = current.get_or_insert_with(|| Iteration {
            cell,
            number: record.iteration,
            earlier: Vec::new(),
            result: None,
            judgement: None,
        });
        // A resumed run may go on after an attempt that was the last one known: only the newest is the result.
        if let Some(superseded) = iteration.result.take() {
            iteration.earlier.push(superseded.into());
            iteration.judgement = None;
        }
        if record.last {
            if judged {
                iteration.judgement = data.judgement(record.cell, record.iteration, record.attempt)?;
            }
            iteration.result = Some(record);
        } else {
            iteration.earlier.push(record.into());
        }
        Ok(())
    })?;
    current.as_ref().map_or(Ok(()), visit)
}
