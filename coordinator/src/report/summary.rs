//! The figures of a run's summary, as terminals show them: fed result by result.

use crate::outcome::{InvalidCause, Outcome};
use crate::record::RunRecord;
use crate::stats::Interval;

use super::Tally;

/// The figures of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Summary {
    /// Test cases.
    pub test_cases: usize,
    /// Planned iterations of the whole run.
    pub iterations: u64,
    /// Passed.
    pub passed: u64,
    /// Failed.
    pub failed: u64,
    /// Invalid: they say nothing about the agent.
    pub invalid: u64,
    /// Aborted.
    pub aborted: u64,
    /// Passed out of passed and failed; `None` when those are fewer than 5.
    pub pass_rate: Option<f64>,
    /// The 95% Wilson range of the pass rate, pooled over all cells; `None` when nothing passed or failed.
    pub range: Option<Interval>,
    /// Causes of invalid iterations with their counts, those that occurred.
    pub by_cause: Vec<(InvalidCause, u64)>,
    /// The same per agent, in config order.
    pub agents: Vec<AgentSummary>,
}

/// The figures of one agent.
#[derive(Clone, Debug, PartialEq)]
pub struct AgentSummary {
    /// Its name in reports.
    pub name: String,
    /// Its outcomes.
    pub tally: Tally,
    /// Test cases in which nothing failed and at least one iteration passed.
    pub always_passed: usize,
}

/// Collects the figures while results come in.
#[derive(Clone, Debug)]
pub struct SummaryBuilder {
    cells: Vec<Tally>,
    agents: Vec<String>,
    test_cases: usize,
    iterations: u64,
}

impl SummaryBuilder {
    /// Nothing counted yet.
    pub fn new(run: &RunRecord) -> Self {
        Self {
            cells: vec![Tally::default(); run.cells()],
            agents: run.agents.iter().map(|agent| agent.name.clone()).collect(),
            test_cases: run.test_cases.len(),
            iterations: run.total_iterations(),
        }
    }

    /// Counts the result of one iteration; attempts that another one follows are not results. A cell that the run does
    /// not have is left out.
    pub fn add(&mut self, cell: u32, outcome: Outcome) {
        if let Some(tally) = self.cells.get_mut(cell as usize) {
            tally.add(outcome);
        }
    }

    /// The figures so far.
    pub fn summary(&self) -> Summary {
        let mut total = Tally::default();
        let mut agents = Vec::with_capacity(self.agents.len());
        for (name, cells) in self.agents.iter().zip(self.cells.chunks(self.test_cases.max(1))) {
            let mut tally = Tally::default();
            for cell in cells {
                tally.merge(cell);
            }
            total.merge(&tally);
            agents.push(AgentSummary {
                name: name.clone(),
                tally,
                always_passed: cells
                    .iter()
                    .filter(|cell| cell.passed > 0 && cell.failed() == 0)
                    .count(),
            });
        }
        let rate = total.pass_rate();
        Summary {
            test_cases: self.test_cases,
            iterations: self.iterations,
            passed: total.passed,
            failed: total.failed(),
            invalid: total.invalid(),
            aborted: total.aborted,
            pass_rate: rate.rate,
            range: rate.range,
            by_cause: total.by_cause().filter(|(_, count)| *count > 0).collect(),
            agents,
        }
    }
}
