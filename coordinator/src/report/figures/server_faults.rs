//! What the server did to attempts that were lost to it.

use crate::outcome::{InvalidCause, Outcome};
use crate::report::Iteration;
use crate::report::error_text::ErrorText;

use super::{Capped, Example};

/// Different faults told apart at most.
const MOST_FAULTS: usize = 200;

/// One kind of fault.
#[derive(Clone, Debug)]
pub struct FaultFigures {
    /// Attempts lost to it.
    pub attempts: u64,
    /// Iterations in which an attempt was lost to it and another one followed.
    pub followed: u64,
    /// As one attempt met it.
    pub sample: String,
    /// The iteration of that attempt.
    pub example: Example,
}

/// Attempts that are invalid because of the server, by what happened, whatever values it was about.
#[derive(Clone, Debug)]
pub struct ServerFaults {
    faults: Capped<String, FaultFigures>,
}

impl Default for ServerFaults {
    fn default() -> Self {
        Self {
            faults: Capped::new(MOST_FAULTS),
        }
    }
}

impl ServerFaults {
    /// What happened and figures, those that cost most attempts first.
    pub fn worst_first(&self) -> Vec<(&str, &FaultFigures)> {
        let mut all: Vec<_> = self.faults.rows().map(|(what, fault)| (what.as_str(), fault)).collect();
        all.sort_by_key(|(_, fault)| std::cmp::Reverse((fault.attempts, fault.followed)));
        all
    }

    /// Faults that are in no row, because there were too many different ones.
    pub fn left_out(&self) -> u64 {
        self.faults.left_out()
    }

    /// Counts every attempt of an iteration.
    pub(super) fn add(&mut self, iteration: &Iteration, example: Example) {
        for earlier in &iteration.earlier {
            self.count(earlier.outcome, &earlier.reason, true, example);
        }
        if let Some(result) = &iteration.result {
            self.count(result.outcome, &result.reason, false, example);
        }
    }

    fn count(&mut self, outcome: Outcome, reason: &str, followed: bool, example: Example) {
        if outcome != Outcome::Invalid(InvalidCause::Server) {
            return;
        }
        let text = ErrorText::from_words(reason);
        let new = || FaultFigures {
            attempts: 0,
            followed: 0,
            sample: text.sample,
            example,
        };
        if let Some(fault) = self.faults.row(text.normalised, new) {
            fault.attempts += 1;
            fault.followed += u64::from(followed);
        }
    }
}
