//! From a stream of attempts to a stream of iterations.

use mcproctor_proto::turn::Usage;

use crate::judge::Judgement;
use crate::outcome::Outcome;
use crate::record::AttemptRecord;

use super::{PendingAttempt, ReportError, RunData};

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
    /// Tokens and money that the judge took for the earlier attempts.
    pub judge_usage_before: Usage,
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
            usage: record.usage(),
            attempt: record.attempt,
            outcome: record.outcome,
            reason: record.reason,
            started_at_unix_ms: record.started_at_unix_ms,
            duration_ms: record.duration_ms,
            worker: record.worker,
        }
    }
}

/// An iteration whose records have not been read yet.
#[derive(Debug)]
pub(super) struct PendingIteration {
    /// Index of the cell, from 0.
    pub(super) cell: usize,
    /// Number of the iteration in its cell, from 1.
    pub(super) number: u32,
    /// At least one, in order.
    attempts: Vec<PendingAttempt>,
    /// What the judge said of the newest.
    judgement: Option<Judgement>,
    /// What the judge took for the others.
    judge_usage_before: Usage,
}

impl PendingIteration {
    /// How many bytes it takes where it is kept.
    pub(super) fn stored_bytes(&self) -> usize {
        self.attempts.iter().map(|attempt| attempt.stored_bytes).sum()
    }

    /// Reads its records.
    pub(super) fn read(self) -> Result<Iteration, ReportError> {
        let mut iteration = Iteration {
            cell: self.cell,
            number: self.number,
            earlier: Vec::new(),
            result: None,
            judgement: None,
            judge_usage_before: self.judge_usage_before,
        };
        for attempt in self.attempts {
            let record = attempt.read()?;
            // A resumed run may go on after an attempt that was the last one known: only the newest is the result.
            if let Some(superseded) = iteration.result.take() {
                iteration.earlier.push(superseded.into());
            }
            if record.last {
                iteration.result = Some(record);
            } else {
                iteration.earlier.push(record.into());
            }
        }
        match self.judgement {
            // Only the newest attempt was asked about.
            Some(judgement) if iteration.result.is_none() => iteration.judge_usage_before.add(&judgement.usage()),
            judgement => iteration.judgement = judgement,
        }
        Ok(iteration)
    }
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
    for_each_pending_iteration(data, &mut |pending| visit(&pending.read()?))
}

/// The same, before anything is read.
pub(super) fn for_each_pending_iteration(
    data: &dyn RunData,
    visit: &mut dyn FnMut(PendingIteration) -> Result<(), ReportError>,
) -> Result<(), ReportError> {
    let cells = data.run().cells();
    let judged = data.run().judge.is_some();
    let complete = |mut iteration: PendingIteration| {
        let said = |attempt: &PendingAttempt| data.judgement(attempt.cell, attempt.iteration, attempt.attempt);
        if let Some((newest, earlier)) = iteration.attempts.split_last().filter(|_| judged) {
            for attempt in earlier {
                if let Some(judgement) = said(attempt)? {
                    iteration.judge_usage_before.add(&judgement.usage());
                }
            }
            iteration.judgement = said(newest)?;
        }
        Ok::<_, ReportError>(iteration)
    };
    let mut current: Option<PendingIteration> = None;
    let mut newest = None;
    data.for_each_pending(&mut |attempt| {
        let key = (attempt.cell, attempt.iteration, attempt.attempt);
        if newest.is_some_and(|newest| newest >= key) {
            return Err(ReportError::OutOfOrder {
                cell: attempt.cell,
                iteration: attempt.iteration,
                attempt: attempt.attempt,
            });
        }
        newest = Some(key);
        let (cell, number) = (attempt.cell as usize, attempt.iteration);
        if cell >= cells {
            return Err(ReportError::UnknownCell {
                cell: attempt.cell,
                cells,
            });
        }
        if let Some(previous) = current.take_if(|it| (it.cell, it.number) != (cell, number)) {
            visit(complete(previous)?)?;
        }
        let iteration = current.get_or_insert_with(|| PendingIteration {
            cell,
            number,
            attempts: Vec::new(),
            judgement: None,
            judge_usage_before: Usage::default(),
        });
        iteration.attempts.push(attempt);
        Ok(())
    })?;
    current.map_or(Ok(()), |last| visit(complete(last)?))
}
