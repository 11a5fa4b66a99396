//! All figures together.

use std::collections::{BTreeMap, BTreeSet};

use mcproctor_proto::agent::AgentKind;

use crate::loading::{Loading, in_effect};
use crate::record::{AttemptRecord, RunRecord};
use crate::report::judge::JudgeFigures;
use crate::report::pass::{Findings, walk};
use crate::report::tally::counts;
use crate::report::{Iteration, ReportError, RunData, ServersSeen};

use super::tools::Tools;
use super::{ArgumentErrors, Cell, Confusion, ErrorTexts, Example, Group, ServerFaults, ToolFigures, UnneededCalls};

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
    /// Which tools were called in the place of which.
    pub confusion: Confusion,
    /// Where arguments went wrong.
    pub argument_errors: ArgumentErrors,
    /// What agents were told when calls failed.
    pub error_texts: ErrorTexts,
    /// Calls on prompts that needed none.
    pub unneeded: UnneededCalls,
    /// What the server did to attempts that were lost to it.
    pub server_faults: ServerFaults,
    /// What the servers said of themselves.
    pub servers: ServersSeen,
    /// What the agents' model API said of itself, and the agents: model names by agent index.
    pub models: Vec<BTreeSet<String>>,
    /// Sandbox levels that attempts really ran in, by agent index.
    pub sandboxes: Vec<BTreeSet<&'static str>>,
    /// How tools were seen to reach the model, by agent index.
    pub loadings: Vec<BTreeSet<Loading>>,
    /// What the judge said, over the results that passed or failed, and by cell.
    pub judge: JudgeFigures,
    /// When the last attempt ended, in milliseconds of Unix time; `None` before the first.
    pub last_end_unix_ms: Option<i64>,
    tools: Tools,
}

impl Figures {
    /// Reads the run once.
    ///
    /// # Errors
    ///
    /// When the attempts cannot be read.
    pub fn collect(data: &dyn RunData) -> Result<Self, ReportError> {
        let mut figures = Self::new(data.run());
        walk(
            data,
            |_, _| Ok(()),
            |seen| {
                for (iteration, findings) in &seen.iterations {
                    figures.add(data.run(), iteration, findings);
                }
                Ok(())
            },
        )?;
        figures.finish(data.run());
        Ok(figures)
    }

    /// Nothing counted yet.
    pub(in crate::report) fn new(run: &RunRecord) -> Self {
        Self {
            total: Group::default(),
            agents: vec![Group::default(); run.agents.len()],
            test_cases: vec![Group::default(); run.test_cases.len()],
            cells: vec![Cell::default(); run.cells()],
            confusion: Confusion::default(),
            argument_errors: ArgumentErrors::default(),
            error_texts: ErrorTexts::default(),
            unneeded: UnneededCalls::default(),
            server_faults: ServerFaults::default(),
            servers: ServersSeen::default(),
            models: vec![BTreeSet::new(); run.agents.len()],
            sandboxes: vec![BTreeSet::new(); run.agents.len()],
            loadings: vec![BTreeSet::new(); run.agents.len()],
            judge: JudgeFigures::of(run),
            last_end_unix_ms: None,
            tools: Tools::default(),
        }
    }

    /// Every tool that was offered, called or expected, by server and name.
    pub fn tools(&self) -> &BTreeMap<(String, String), ToolFigures> {
        &self.tools.by_name
    }

    /// Counts an iteration; they come in the order of the run.
    pub(in crate::report) fn add(&mut self, run: &RunRecord, iteration: &Iteration, findings: &Findings) {
        let example = Example::of(iteration.cell, iteration.number);
        if let Some(cell) = self.cells.get_mut(iteration.cell) {
            cell.add(run.iterations, iteration);
        }
        self.server_faults.add(iteration, example);
        for earlier in &iteration.earlier {
            self.ended(earlier.started_at_unix_ms, earlier.duration_ms);
        }
        self.judge.add(iteration);
        let (Some(result), Some(case)) = (&iteration.result, run.test_case_of(iteration.cell)) else {
            return;
        };
        self.ended(result.started_at_unix_ms, result.duration_ms);
        self.servers.add(iteration.cell, &result.exposures);
        let kind = run
            .agent_of(iteration.cell)
            .and_then(|agent| AgentKind::from_name(&agent.kind));
        self.tools.add(case, kind, result, findings);
        self.add_agent(run, iteration.cell, result);
        // The others say nothing about the agent, or about the tools.
        if counts(result.outcome) {
            self.confusion.add(case, result, example);
            self.argument_errors.add(result, findings, example);
            self.error_texts.add(result, findings, example);
            self.unneeded.add(case, result, example);
        }
    }

    /// Adds up agents, test cases and the whole, once everything is counted.
    pub(in crate::report) fn finish(&mut self, run: &RunRecord) {
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
        let kind = run
            .agents
            .get(agent)
            .and_then(|agent| AgentKind::from_name(&agent.kind));
        if let (Some(known), Some(kind)) = (self.loadings.get_mut(agent), kind) {
            known.insert(in_effect(kind, &result.traffic));
        }
    }
}
