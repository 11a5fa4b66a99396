//! Every figure of a run, collected in one pass over its iterations.
//!
//! What is kept per iteration is a mark and a few numbers (about 40 bytes), what is kept per call is its duration: the
//! conversations themselves are never held.

use std::collections::{BTreeMap, BTreeSet};

use mcproctor_proto::call::{CallState, ToolCall};
use mcproctor_proto::turn::Usage;

use crate::outcome::Outcome;
use crate::record::{AttemptRecord, RunRecord};
use crate::stats::{Spread, spread};

use super::iteration::{Iteration, usage_of};
use super::judge::JudgeFigures;
use super::servers::ServersSeen;
use super::{ReportError, RunData, Tally, for_each_iteration};

/// Tools told apart at most; calls of further ones are counted under [`OTHER_TOOLS`].
const MOST_TOOLS: usize = 500;

/// Stands for every tool beyond the first 500.
const OTHER_TOOLS: &str = "(further tools)";

/// Figures of the whole run and its parts.
#[derive(Clone, Debug)]
pub struct Figures {
    /// Over all cells.
    pub total: Group,
    /// Per agent, in config order.
    pub agents: Vec<Group>,
    /// Per test case, in their order.
    pub test_cases: Vec<Group>,
    /// Per cell.
    pub cells: Vec<Cell>,
    /// Per server and tool.
    pub tools: BTreeMap<(String, String), ToolFigures>,
    /// What the servers said of themselves.
    pub servers: ServersSeen,
    /// What the agents' model API said of itself, and the agents: model names by agent index.
    pub models: Vec<BTreeSet<String>>,
    /// Sandbox levels that attempts really ran in, by agent index.
    pub sandboxes: Vec<BTreeSet<&'static str>>,
    /// What the judge said, over the results that passed or failed, and by cell.
    pub judge: JudgeFigures,
    /// When the last attempt ended, in milliseconds of Unix time; `None` before the first.
    pub last_end_unix_ms: Option<i64>,
}

/// One cell.
#[derive(Clone, Debug, Default)]
pub struct Cell {
    /// Its figures.
    pub group: Group,
    /// A letter per iteration from the first: `p`assed, `f`ailed, `i`nvalid, `a`borted, `w`aiting for a new attempt, `-` none.
    pub marks: String,
}

/// Figures of some iterations.
#[derive(Clone, Debug, Default)]
pub struct Group {
    /// Outcomes of iterations.
    pub tally: Tally,
    /// Outcomes of attempts, the ones that another followed included.
    pub attempts: Tally,
    /// Iterations without a result for which a new attempt is due.
    pub waiting: u64,
    /// Tokens and money of all attempts.
    pub usage: Usage,
    /// Iterations in which the agent left the MCP binding.
    pub with_escapes: u64,
    durations_ms: Vec<f64>,
    tokens: Vec<f64>,
    costs_usd: Vec<f64>,
}

impl Group {
    /// Durations of the attempts that passed or failed, in milliseconds.
    pub fn duration_ms(&self) -> Spread {
        spread(self.durations_ms.iter().copied())
    }

    /// Input and output tokens together of the attempts that passed or failed, where they are known.
    pub fn tokens(&self) -> Spread {
        spread(self.tokens.iter().copied())
    }

    /// Cost of the attempts that passed or failed in US dollars, where it is known.
    pub fn cost_usd(&self) -> Spread {
        spread(self.costs_usd.iter().copied())
    }

    fn add(&mut self, iteration: &Iteration) {
        for earlier in &iteration.earlier {
            self.attempts.add(earlier.outcome);
            self.usage.add(&earlier.usage);
        }
        let Some(result) = &iteration.result else {
            self.waiting += 1;
            return;
        };
        let usage = usage_of(result);
        self.attempts.add(result.outcome);
        self.tally.add(result.outcome);
        self.usage.add(&usage);
        self.with_escapes += u64::from(result.turns.iter().any(|turn| !turn.escapes.is_empty()));
        if matches!(result.outcome, Outcome::Passed | Outcome::Failed(_)) {
            self.durations_ms.push(as_f64(result.duration_ms));
            if let (Some(input), Some(output)) = (usage.input_tokens, usage.output_tokens) {
                self.tokens.push(as_f64(input.saturating_add(output)));
            }
            self.costs_usd.extend(usage.cost_usd);
        }
    }

    fn merge(&mut self, other: &Self) {
        self.tally.merge(&other.tally);
        self.attempts.merge(&other.attempts);
        self.waiting += other.waiting;
        self.usage.add(&other.usage);
        self.with_escapes += other.with_escapes;
        self.durations_ms.extend_from_slice(&other.durations_ms);
        self.tokens.extend_from_slice(&other.tokens);
        self.costs_usd.extend_from_slice(&other.costs_usd);
    }
}

/// Figures of one tool, over the attempts that are results.
#[derive(Clone, Debug, Default)]
pub struct ToolFigures {
    /// Calls by how they ended.
    pub by_state: BTreeMap<&'static str, u64>,
    /// Iterations that called it.
    pub iterations: u64,
    durations_ms: Vec<f32>,
}

impl ToolFigures {
    /// Every call.
    pub fn calls(&self) -> u64 {
        self.by_state.values().sum()
    }

    /// Calls that were answered without an error.
    pub fn succeeded(&self) -> u64 {
        self.by_state.get(CallState::Ok.name()).copied().unwrap_or(0)
    }

    /// Durations of the calls, in milliseconds.
    pub fn duration_ms(&self) -> Spread {
        spread(self.durations_ms.iter().map(|ms| f64::from(*ms)))
    }
}

impl Figures {
    /// Reads the run once.
    ///
    /// # Errors
    ///
    /// When the attempts cannot be read.
    pub fn collect(data: &dyn RunData) -> Result<Self, ReportError> {
        let run = data.run();
        let mut figures = Self {
            total: Group::default(),
            agents: vec![Group::default(); run.agents.len()],
            test_cases: vec![Group::default(); run.test_cases.len()],
            cells: vec![Cell::default(); run.cells()],
            tools: BTreeMap::new(),
            servers: ServersSeen::default(),
            models: vec![BTreeSet::new(); run.agents.len()],
            sandboxes: vec![BTreeSet::new(); run.agents.len()],
            judge: JudgeFigures::of(run),
            last_end_unix_ms: None,
        };
        for_each_iteration(data, &mut |iteration| {
            figures.add(run, iteration);
            Ok(())
        })?;
        figures.gather(run);
        Ok(figures)
    }

    fn add(&mut self, run: &RunRecord, iteration: &Iteration) {
        if let Some(cell) = self.cells.get_mut(iteration.cell) {
            cell.group.add(iteration);
            // Records of an iteration beyond the plan would otherwise ask for a mark far away.
            let place = (iteration.number.min(run.iterations) as usize).saturating_sub(1);
            while cell.marks.len() < place {
                cell.marks.push('-');
            }
            cell.marks
                .push(mark(iteration.result.as_ref().map(|result| result.outcome)));
        }
        for earlier in &iteration.earlier {
            self.ended(earlier.started_at_unix_ms, earlier.duration_ms);
        }
        self.judge.add(iteration);
        if let Some(result) = &iteration.result {
            self.ended(result.started_at_unix_ms, result.duration_ms);
            self.servers.add(iteration.cell, &result.exposures);
            self.add_calls(&result.calls);
            self.add_agent(run, iteration.cell, result);
        }
    }

    fn ended(&mut self, started_at_unix_ms: i64, duration_ms: u64) {
        let end = started_at_unix_ms.saturating_add_unsigned(duration_ms);
        self.last_end_unix_ms = Some(self.last_end_unix_ms.map_or(end, |known| known.max(end)));
    }

    fn add_agent(&mut self, run: &RunRecord, cell: usize, result: &AttemptRecord) {
        let Some(agent) = cell.checked_div(run.test_cases.len()) else {
            return;
        };
        let reported = result.turns.iter().filter_map(|turn| turn.model.as_ref());
        let models = result.traffic.response_model.iter().chain(reported);
        if let Some(known) = self.models.get_mut(agent) {
            for model in models {
                if known.len() < 20 && !known.contains(model) {
                    known.insert(model.clone());
                }
            }
        }
        if let Some(known) = self.sandboxes.get_mut(agent) {
            known.insert(result.sandbox.name());
        }
    }

    fn add_calls(&mut self, calls: &[ToolCall]) {
        let mut seen = BTreeSet::new();
        for call in calls {
            let mut key = (call.server.clone(), call.tool.clone());
            if self.tools.len() >= MOST_TOOLS && !self.tools.contains_key(&key) {
                key.1 = OTHER_TOOLS.to_owned();
            }
            let tool = self.tools.entry(key.clone()).or_default();
            *tool.by_state.entry(call.state.name()).or_default() += 1;
            #[expect(
                clippy::cast_precision_loss,
                reason = "a call's milliseconds; seven digits are enough"
            )]
            tool.durations_ms.push(call.duration_ms as f32);
            tool.iterations += u64::from(seen.insert(key));
        }
    }

    fn gather(&mut self, run: &RunRecord) {
        let columns = run.test_cases.len().max(1);
        for (index, cell) in self.cells.iter().enumerate() {
            self.total.merge(&cell.group);
            if let Some(agent) = self.agents.get_mut(index / columns) {
                agent.merge(&cell.group);
            }
            if let Some(test_case) = self.test_cases.get_mut(index % columns) {
                test_case.merge(&cell.group);
            }
        }
    }
}

fn mark(outcome: Option<Outcome>) -> char {
    match outcome {
        Some(Outcome::Passed) => 'p',
        Some(Outcome::Failed(_)) => 'f',
        Some(Outcome::Invalid(_)) => 'i',
        Some(Outcome::Aborted) => 'a',
        None => 'w',
    }
}

#[expect(clippy::cast_precision_loss, reason = "milliseconds and tokens are far below 2^52")]
fn as_f64(value: u64) -> f64 {
    value as f64
}
