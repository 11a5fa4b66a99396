//! How reliable an agent is over all its test cases: the bridge to the statistics.

use crate::stats::Rate;

use super::Cell;

/// What is said of an agent's test cases together.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Suite {
    /// How reliably exactly these test cases are done.
    pub(super) these: Estimate,
    /// What may be expected of prompts that were not tried.
    pub(super) like: Estimate,
    /// Test cases that passed every time, out of those with an iteration that counts.
    pub(super) distinct: Rate,
}

/// A rate with the method behind its range.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Estimate {
    /// Counts, rate and range; a range is absent where none can be given.
    pub(super) rate: Rate,
    /// How the range was found, in few words.
    pub(super) method: &'static str,
    /// Why there is no range, or what to mind about it.
    pub(super) note: Option<String>,
}

/// Of the cells of one agent.
pub(super) fn suite(cells: &[Cell]) -> Suite {
    let tried = || {
        cells
            .iter()
            .map(|cell| &cell.group.tally)
            .filter(|tally| tally.pass_rate().n > 0)
    };
    let passed = tried().map(|tally| tally.passed).sum();
    let n = tried().map(|tally| tally.pass_rate().n).sum();
    let always = tried().filter(|tally| tally.failed() == 0).count() as u64;
    let pooled = Rate::of(passed, n);
    Suite {
        these: Estimate {
            rate: pooled,
            method: "pooled, Wilson",
            note: None,
        },
        like: Estimate {
            rate: Rate { range: None, ..pooled },
            method: "none",
            note: Some("not computed".to_owned()),
        },
        distinct: Rate::of(always, tried().count() as u64),
    }
}
