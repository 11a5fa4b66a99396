//! One side of a comparison: an agent of a run.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use serde::Serialize;

use crate::record::{AgentRecord, RunRecord, RunState, TestCaseRecord};

use super::results::{Cell, Results, Seen};

/// An agent of a run.
#[derive(Clone, Copy, Debug)]
pub struct Side<'a> {
    results: &'a Results,
    agent: usize,
}

/// What names a side.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SideFacts {
    /// The run.
    pub run: String,
    /// The agent's name.
    pub agent: String,
    /// When the run began, RFC 3339 in UTC.
    pub started_at: String,
    /// The agent's version.
    pub agent_version: Option<String>,
    /// The model asked for.
    pub model: Option<String>,
    /// The version of mcproctor.
    pub mcproctor_version: String,
    /// Iterations planned for each test case.
    pub iterations: u32,
}

static NOTHING_SEEN: Seen = Seen {
    servers: BTreeMap::new(),
    models: BTreeSet::new(),
    sandboxes: BTreeSet::new(),
    loadings: BTreeSet::new(),
};

impl<'a> Side<'a> {
    /// The agent with that index; `None` when the run has none.
    pub fn of(results: &'a Results, agent: usize) -> Option<Self> {
        results.run.agents.get(agent).map(|_| Self { results, agent })
    }

    pub(super) fn run(&self) -> &'a RunRecord {
        &self.results.run
    }

    pub(super) fn state(&self) -> RunState {
        self.results.state
    }

    pub(super) fn agent(&self) -> Option<&'a AgentRecord> {
        self.results.run.agents.get(self.agent)
    }

    pub(super) fn seen(&self) -> &'a Seen {
        self.results.agents.get(self.agent).unwrap_or(&NOTHING_SEEN)
    }

    /// The test cases in their order, with what became of them.
    pub(super) fn cases(&self) -> impl Iterator<Item = (&'a TestCaseRecord, &'a Cell)> {
        let cases = &self.results.run.test_cases;
        let first = self.agent * cases.len();
        cases.iter().zip(self.results.cells.get(first..).unwrap_or_default())
    }

    /// Run and agent: `2026-11-05T07-00-00-3fa9/claude`.
    pub(super) fn name(&self) -> String {
        let agent = self.agent().map_or("", |agent| agent.name.as_str());
        format!("{}/{agent}", self.run().id)
    }

    /// The same run and agent.
    pub(super) fn is(&self, other: &Side<'_>) -> bool {
        self.run().id == other.run().id && self.agent == other.agent
    }

    /// Iterations that were planned for this agent and have no result.
    pub(super) fn missing(&self) -> u64 {
        let planned = self.run().test_cases.len() as u64 * u64::from(self.run().iterations);
        let have: u64 = self
            .cases()
            .map(|(_, cell)| cell.count().total() + cell.invalid())
            .sum();
        planned.saturating_sub(have)
    }

    pub(super) fn facts(&self) -> SideFacts {
        let (run, agent) = (self.run(), self.agent());
        SideFacts {
            run: run.id.to_string(),
            agent: agent.map(|agent| agent.name.clone()).unwrap_or_default(),
            started_at: Timestamp::from_millisecond(run.started_at_unix_ms)
                .map(|at| at.strftime("%Y-%m-%dT%H:%M:%SZ").to_string())
                .unwrap_or_default(),
            agent_version: agent.and_then(|agent| agent.version.clone()),
            model: agent.and_then(|agent| agent.model.clone()),
            mcproctor_version: run.version.clone(),
            iterations: run.iterations,
        }
    }
}
