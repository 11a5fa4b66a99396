//! What was asked of the run, and whether it was reached.

use crate::record::{RunRecord, RunState};
use crate::threshold::{Counts, Measure, Shortfall, Thresholds};

use super::Figures;

/// The thresholds of a run that has some.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Gate {
    /// What was asked, in words: `suite 90%, every test case 80%, on the rate`.
    pub(super) asked: String,
    /// What was not reached; `None` while the run is not complete.
    pub(super) missed: Option<Vec<Shortfall>>,
}

impl Gate {
    /// `None` for a run without thresholds.
    pub(super) fn of(run: &RunRecord, state: RunState, figures: &Figures) -> Option<Self> {
        if run.thresholds.is_empty() {
            return None;
        }
        let missed = || {
            let cells: Vec<Counts> = figures
                .cells
                .iter()
                .map(|cell| Counts::of(run.iterations, cell.group.tally.passed, cell.group.tally.failed()))
                .collect();
            run.shortfalls(&cells)
        };
        Some(Self {
            asked: asked(&run.thresholds),
            missed: (state == RunState::Completed).then(missed),
        })
    }

    /// `met`, `not met`, or that it is not decided.
    pub(super) fn verdict(&self) -> &'static str {
        match &self.missed {
            None => "decided when the run is complete",
            Some(missed) if missed.is_empty() => "met",
            Some(_) => "not met",
        }
    }
}

fn asked(thresholds: &Thresholds) -> String {
    let suite = thresholds.suite.map(|share| format!("suite {share}"));
    let case = thresholds.test_case.map(|share| format!("every test case {share}"));
    let on = match thresholds.on {
        Measure::Rate => "on the rate",
        Measure::LowerEnd => "on the range's lower end",
    };
    let parts: Vec<String> = suite.into_iter().chain(case).chain([on.to_owned()]).collect();
    parts.join(", ")
}
