//! A run, gathered in one pass over the results of its iterations.

use std::collections::{BTreeMap, BTreeSet};

use mcproctor_proto::agent::AgentKind;
use serde::Serialize;

use crate::loading::in_effect;
use crate::outcome::{FailureClass, InvalidCause, Outcome};
use crate::record::{AttemptRecord, RunRecord, RunState};
use crate::stats::Count;

/// Versions of a server, or models, that are kept at most.
const MOST_KINDS: usize = 50;

/// What is kept of a run: counts, and a few numbers per iteration.
#[derive(Clone, Debug)]
pub struct Results {
    pub(super) run: RunRecord,
    pub(super) state: RunState,
    pub(super) cells: Vec<Cell>,
    pub(super) agents: Vec<Seen>,
}

/// The iterations of a cell.
#[derive(Clone, Debug, Default)]
pub(super) struct Cell {
    /// Attempts, those that were repeated included.
    pub(super) attempts: u64,
    pub(super) passed: u64,
    pub(super) aborted: u64,
    pub(super) failed: BTreeMap<FailureClass, u64>,
    pub(super) invalid: BTreeMap<InvalidCause, u64>,
    pub(super) durations_ms: Vec<f32>,
    pub(super) tokens: Vec<f32>,
    pub(super) costs_usd: Vec<f32>,
}

/// What was seen of servers and models in the iterations of one agent.
#[derive(Clone, Debug, Default)]
pub(super) struct Seen {
    pub(super) servers: BTreeMap<String, BTreeMap<Face, u64>>,
    pub(super) models: BTreeSet<String>,
    pub(super) sandboxes: BTreeSet<&'static str>,
    /// How tools reached the model.
    pub(super) loadings: BTreeSet<&'static str>,
}

/// What a server said of itself.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub(super) struct Face {
    pub(super) name: Option<String>,
    pub(super) version: Option<String>,
    pub(super) protocol: Option<String>,
    /// `None` when the tools were never listed.
    pub(super) tools_sha256: Option<String>,
}

impl Results {
    /// A run of which nothing was read yet.
    pub fn new(run: RunRecord, state: RunState) -> Self {
        Self {
            cells: vec![Cell::default(); run.cells()],
            agents: vec![Seen::default(); run.agents.len()],
            run,
            state,
        }
    }

    /// Takes the result of an iteration: its last attempt. One of a cell that the run does not have is left out.
    pub fn add(&mut self, result: &AttemptRecord) {
        let index = result.cell as usize;
        let Some(cell) = self.cells.get_mut(index) else { return };
        cell.add(result);
        let kind = self
            .run
            .agent_of(index)
            .and_then(|agent| AgentKind::from_name(&agent.kind));
        let agent = index.checked_div(self.run.test_cases.len());
        if let Some(seen) = agent.and_then(|agent| self.agents.get_mut(agent)) {
            seen.add(kind, result);
        }
    }
}

impl Cell {
    fn add(&mut self, result: &AttemptRecord) {
        self.attempts += u64::from(result.attempt);
        match result.outcome {
            Outcome::Passed => self.passed += 1,
            Outcome::Failed(class) => *self.failed.entry(class).or_default() += 1,
            Outcome::Invalid(cause) => *self.invalid.entry(cause).or_default() += 1,
            Outcome::Aborted => self.aborted += 1,
        }
        if !matches!(result.outcome, Outcome::Passed | Outcome::Failed(_)) {
            return;
        }
        let usage = result.usage();
        // Seven digits are enough for a median, and half the memory.
        self.durations_ms.push(result.duration_ms as f32);
        if let (Some(input), Some(output)) = (usage.input_tokens, usage.output_tokens) {
            self.tokens.push(input.saturating_add(output) as f32);
        }
        self.costs_usd.extend(usage.cost_usd.map(|cost| cost as f32));
    }

    /// Passed, of those that passed or failed.
    pub(super) fn count(&self) -> Count {
        Count::of(self.passed, self.passed + self.failed.values().sum::<u64>())
    }

    pub(super) fn invalid(&self) -> u64 {
        self.invalid.values().sum()
    }
}

impl Seen {
    fn add(&mut self, kind: Option<AgentKind>, result: &AttemptRecord) {
        self.sandboxes.insert(result.sandbox.name());
        self.loadings
            .extend(kind.map(|kind| in_effect(kind, &result.traffic).words()));
        let reported = result.turns.iter().filter_map(|turn| turn.model.as_ref());
        for model in result.traffic.response_model.iter().chain(reported) {
            if self.models.len() < MOST_KINDS {
                self.models.insert(model.clone());
            }
        }
        for exposure in &result.exposures {
            if !exposure.initialized && !exposure.tools_listed {
                continue;
            }
            let face = Face {
                name: exposure.server_name.clone(),
                version: exposure.server_version.clone(),
                protocol: exposure.protocol_version.clone(),
                tools_sha256: exposure.tools_listed.then(|| exposure.tools_sha256.clone()),
            };
            let faces = self.servers.entry(exposure.server.clone()).or_default();
            if faces.len() < MOST_KINDS || faces.contains_key(&face) {
                *faces.entry(face).or_default() += 1;
            }
        }
    }
}
