//! One cell of a run: a mark for each of its iterations, and their counts.

use crate::outcome::{FailureClass, InvalidCause, Outcome};

/// How an iteration stands. Two bytes, so that 100,000 of them are nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mark {
    /// Not given out, or waiting for a new attempt.
    #[default]
    Pending,
    /// An attempt goes on.
    Running,
    /// Passed.
    Passed,
    /// Failed, and why.
    Failed(FailureClass),
    /// Invalid after the last attempt, and why.
    Invalid(InvalidCause),
    /// The run was stopped while it went on.
    Aborted,
}

impl Mark {
    /// What a finished attempt leaves on its iteration.
    pub fn of(outcome: Outcome, last: bool) -> Self {
        match outcome {
            Outcome::Aborted => Self::Aborted,
            _ if !last => Self::Pending,
            Outcome::Passed => Self::Passed,
            Outcome::Failed(class) => Self::Failed(class),
            Outcome::Invalid(cause) => Self::Invalid(cause),
        }
    }

    /// One column wide, each distinguishable without colour.
    pub fn glyph(self) -> char {
        match self {
            Self::Pending => '·',
            Self::Running => '▸',
            Self::Passed => '✓',
            Self::Failed(_) => '✗',
            Self::Invalid(_) => '!',
            Self::Aborted => '-',
        }
    }
}

/// Iterations by how they stand; those not counted here are pending.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// An attempt goes on.
    pub running: u64,
    /// Passed.
    pub passed: u64,
    /// Failed.
    pub failed: u64,
    /// Invalid after the last attempt.
    pub invalid: u64,
    /// Stopped with the run.
    pub aborted: u64,
}

impl Counts {
    /// Iterations that say something about the agent: the N of every rate.
    pub fn decided(&self) -> u64 {
        self.passed + self.failed
    }

    /// Iterations that have a result.
    pub fn finished(&self) -> u64 {
        self.decided() + self.invalid
    }

    /// Moves one iteration from one mark to another.
    pub(super) fn moved(&mut self, from: Mark, to: Mark) {
        if let Some(count) = self.of(from) {
            *count = count.saturating_sub(1);
        }
        if let Some(count) = self.of(to) {
            *count += 1;
        }
    }

    fn of(&mut self, mark: Mark) -> Option<&mut u64> {
        match mark {
            Mark::Pending => None,
            Mark::Running => Some(&mut self.running),
            Mark::Passed => Some(&mut self.passed),
            Mark::Failed(_) => Some(&mut self.failed),
            Mark::Invalid(_) => Some(&mut self.invalid),
            Mark::Aborted => Some(&mut self.aborted),
        }
    }
}

/// What is known of one cell.
#[derive(Clone, Debug, Default)]
pub struct Cell {
    marks: Vec<Mark>,
    counts: Counts,
}

impl Cell {
    /// Marks of the iterations from the first to the last that was touched; the others are pending.
    pub fn marks(&self) -> &[Mark] {
        &self.marks
    }

    /// Its iterations by how they stand.
    pub fn counts(&self) -> &Counts {
        &self.counts
    }

    /// Whether something of it did not pass.
    pub fn is_failing(&self) -> bool {
        self.counts.failed + self.counts.invalid > 0
    }

    /// Sets the mark of an iteration (from 1) and gives back the one it had.
    pub(super) fn set(&mut self, iteration: u32, mark: Mark) -> Mark {
        let index = iteration.saturating_sub(1) as usize;
        if self.marks.len() <= index {
            self.marks.resize(index + 1, Mark::Pending);
        }
        let before = std::mem::replace(&mut self.marks[index], mark);
        self.counts.moved(before, mark);
        before
    }

    /// One mark for the whole cell of so many iterations: the worst that happened, else how far it is.
    pub fn overall(&self, iterations: u32) -> Mark {
        let counts = &self.counts;
        let first = |wanted: fn(&Mark) -> bool| self.marks.iter().copied().find(wanted).unwrap_or_default();
        if counts.failed > 0 {
            first(|mark| matches!(mark, Mark::Failed(_)))
        } else if counts.invalid > 0 {
            first(|mark| matches!(mark, Mark::Invalid(_)))
        } else if counts.running > 0 {
            Mark::Running
        } else if counts.aborted > 0 {
            Mark::Aborted
        } else if iterations > 0 && counts.passed >= u64::from(iterations) {
            Mark::Passed
        } else {
            Mark::Pending
        }
    }
}
