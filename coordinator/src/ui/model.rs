//! A run as it can be shown: events folded into a state whose size does not grow with what happens.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use mcproctor_proto::call::CallState;
use mcproctor_proto::id::RunId;

use super::marks::{Cell, Counts, Mark};
use super::text::{clean, width};
use crate::event::{AttemptKey, Envelope, Event};
use crate::judge::{Agreement, JudgeTally};
use crate::outcome::{FailureClass, InvalidCause, Outcome};
use crate::record::{RunRecord, RunState};

/// Notices kept for showing.
const NOTICES: usize = 8;
/// Iterations that must have finished in this process before their speed says anything about the rest.
const ETA_AFTER: u64 = 10;

/// The state of a run. All text in it is safe to write to a terminal.
#[derive(Clone, Debug, Default)]
pub struct View {
    run: Option<Plan>,
    cells: Vec<Cell>,
    totals: Counts,
    running: BTreeMap<AttemptKey, Running>,
    failed: BTreeMap<FailureClass, u64>,
    invalid: BTreeMap<InvalidCause, u64>,
    repeated: BTreeMap<InvalidCause, u64>,
    notices: VecDeque<String>,
    stopping: Option<String>,
    report: Option<String>,
    state: Option<RunState>,
    started_at: Option<i64>,
    ended_at: Option<i64>,
    finished_here: u64,
    most_running: u64,
    judged: JudgeTally,
    /// Iterations of a cell on which the judge disagrees, where there are any.
    disagreements: BTreeMap<u32, u64>,
}

/// What was planned, as far as it is shown.
#[derive(Clone, Debug)]
pub(super) struct Plan {
    pub(super) id: RunId,
    pub(super) config_file: String,
    pub(super) agents: Vec<AgentLabel>,
    pub(super) test_cases: Vec<String>,
    pub(super) iterations: u32,
    /// The judge's model.
    pub(super) judge: Option<String>,
    /// Columns of the widest name of a test case.
    pub(super) name_width: usize,
}

/// An agent's name, and what it is.
#[derive(Clone, Debug)]
pub(super) struct AgentLabel {
    pub(super) name: String,
    pub(super) detail: String,
}

/// An attempt that goes on.
#[derive(Clone, Debug)]
pub struct Running {
    /// The worker that has it.
    pub worker: String,
    /// Milliseconds of Unix time.
    pub started_at: i64,
    /// The turn it is in, from 0.
    pub turn: u32,
    /// Tool calls so far.
    pub calls: u32,
    /// The latest one.
    pub last_call: Option<LastCall>,
}

/// The latest tool call of an attempt.
#[derive(Clone, Debug)]
pub struct LastCall {
    id: String,
    /// The tool.
    pub tool: String,
    /// How it ended; `None` while it goes on.
    pub state: Option<CallState>,
}

impl View {
    /// Takes in one event.
    pub fn apply(&mut self, envelope: &Envelope) {
        match &envelope.event {
            Event::RunStarted { run, .. } => self.run_started(run, envelope.at),
            Event::Notice { text } => self.notice(text),
            Event::AttemptStarted { key, worker } => self.attempt_started(*key, worker, envelope.at),
            Event::TurnStarted { key, turn } => {
                if let Some(running) = self.running.get_mut(key) {
                    running.turn = *turn;
                }
            }
            Event::CallStarted { key, call, tool } => {
                if let Some(running) = self.running.get_mut(key) {
                    running.calls = running.calls.saturating_add(1);
                    running.last_call = Some(LastCall {
                        id: call.clone(),
                        tool: clean(tool),
                        state: None,
                    });
                }
            }
            Event::CallEnded { key, call, state, .. } => {
                let last = self.running.get_mut(key).and_then(|running| running.last_call.as_mut());
                if let Some(last) = last.filter(|last| last.id == *call) {
                    last.state = Some(*state);
                }
            }
            Event::AttemptFinished { key, outcome, last, .. } => self.attempt_finished(*key, *outcome, *last),
            Event::Judged {
                key,
                verdict,
                agreement,
                usage,
                ..
            } => {
                self.judged.add(*verdict, *agreement);
                self.judged.usage.add(usage);
                if *agreement == Agreement::Disagrees {
                    *self.disagreements.entry(key.cell).or_default() += 1;
                }
            }
            Event::Stopping { reason } => self.stopping = Some(clean(reason)),
            Event::ReportWritten { path } => self.report = Some(path.clone()),
            Event::RunFinished { state, .. } => {
                self.state = Some(*state);
                self.ended_at = Some(envelope.at);
                self.running.clear();
            }
        }
    }

    fn run_started(&mut self, run: &RunRecord, at: i64) {
        let test_cases: Vec<String> = run.test_cases.iter().map(|case| clean(&case.name)).collect();
        let agents = run.agents.iter().map(|agent| {
            let sandbox = if agent.own_login {
                "own login, not isolated".to_owned()
            } else {
                format!("sandbox {}", agent.sandbox)
            };
            let model = agent.model.clone().filter(|model| *model != agent.name);
            let program = match &agent.version {
                Some(version) => format!("{} {version}", agent.kind),
                None => agent.kind.clone(),
            };
            let detail: Vec<String> = model.into_iter().chain([program, sandbox]).collect();
            AgentLabel {
                name: clean(&agent.name),
                detail: clean(&detail.join(", ")),
            }
        });
        self.run = Some(Plan {
            id: RunId::new(clean(run.id.as_str())),
            config_file: clean(&run.config_file),
            agents: agents.collect(),
            name_width: test_cases.iter().map(|name| width(name)).max().unwrap_or(0),
            test_cases,
            iterations: run.iterations,
            judge: run.judge.as_ref().map(|judge| clean(&judge.model)),
        });
        self.cells.resize_with(run.cells(), Cell::default);
        self.started_at = Some(at);
        for notice in &run.notices {
            self.notice(notice);
        }
    }

    fn notice(&mut self, text: &str) {
        if self.notices.len() == NOTICES {
            self.notices.pop_front();
        }
        self.notices.push_back(clean(text));
    }

    fn attempt_started(&mut self, key: AttemptKey, worker: &str, at: i64) {
        self.set(key, Mark::Running);
        let running = Running {
            worker: clean(worker),
            started_at: at,
            turn: 0,
            calls: 0,
            last_call: None,
        };
        self.running.insert(key, running);
        self.most_running = self.most_running.max(self.running.len() as u64);
    }

    fn attempt_finished(&mut self, key: AttemptKey, outcome: Outcome, last: bool) {
        self.running.remove(&key);
        // While a run stops, nothing is tried again.
        if let (Outcome::Invalid(cause), false, None) = (outcome, last, self.stopping()) {
            *self.repeated.entry(cause).or_default() += 1;
        }
        let mark = Mark::of(outcome, last);
        self.set(key, mark);
        // What a resumed run brings along was not finished at the speed of this one.
        if self.run.is_some() && !matches!(mark, Mark::Pending | Mark::Aborted) {
            self.finished_here += 1;
        }
    }

    /// Sets a mark and keeps every count in step with it.
    fn set(&mut self, key: AttemptKey, mark: Mark) {
        let index = key.cell as usize;
        match &self.run {
            Some(plan) if index >= self.cells.len() || key.iteration > plan.iterations => return,
            // Results of a resumed run come before its plan.
            None if index >= self.cells.len() => self.cells.resize_with(index + 1, Cell::default),
            _ => {}
        }
        let Some(cell) = self.cells.get_mut(index) else { return };
        let before = cell.set(key.iteration, mark);
        self.totals.moved(before, mark);
        match before {
            Mark::Failed(class) => decrease(&mut self.failed, class),
            Mark::Invalid(cause) => decrease(&mut self.invalid, cause),
            _ => {}
        }
        match mark {
            Mark::Failed(class) => *self.failed.entry(class).or_default() += 1,
            Mark::Invalid(cause) => *self.invalid.entry(cause).or_default() += 1,
            _ => {}
        }
    }

    pub(super) fn plan(&self) -> Option<&Plan> {
        self.run.as_ref()
    }

    /// The cells, in the order of the plan.
    pub fn cells(&self) -> &[Cell] {
        &self.cells
    }

    /// All iterations by how they stand.
    pub fn totals(&self) -> &Counts {
        &self.totals
    }

    /// Iterations by how they stand, of one agent (its index).
    pub fn totals_of_agent(&self, agent: usize) -> Counts {
        let per_agent = self.run.as_ref().map_or(0, |plan| plan.test_cases.len());
        let mut sum = Counts::default();
        for cell in self.cells.iter().skip(agent * per_agent).take(per_agent) {
            let counts = cell.counts();
            sum.running += counts.running;
            sum.passed += counts.passed;
            sum.failed += counts.failed;
            sum.invalid += counts.invalid;
            sum.aborted += counts.aborted;
        }
        sum
    }

    /// What the judge said so far.
    pub fn judged(&self) -> &JudgeTally {
        &self.judged
    }

    /// On how many iterations of a cell the judge disagrees.
    pub fn disagreements(&self, cell: usize) -> u64 {
        let cell = u32::try_from(cell).ok();
        cell.and_then(|cell| self.disagreements.get(&cell))
            .copied()
            .unwrap_or(0)
    }

    /// Iterations of the whole run; 0 before the plan is known.
    pub fn total_iterations(&self) -> u64 {
        self.run
            .as_ref()
            .map_or(0, |plan| self.cells.len() as u64 * u64::from(plan.iterations))
    }

    /// Iterations that wait for an attempt.
    pub fn pending(&self) -> u64 {
        self.total_iterations()
            .saturating_sub(self.totals.finished() + self.totals.running + self.totals.aborted)
    }

    /// Attempts that go on, in the order of cells.
    pub fn running(&self) -> &BTreeMap<AttemptKey, Running> {
        &self.running
    }

    /// The most attempts that went on at once so far.
    pub fn most_running(&self) -> u64 {
        self.most_running
    }

    /// Workers that run something at this moment.
    pub fn busy_workers(&self) -> usize {
        self.running
            .values()
            .map(|running| running.worker.as_str())
            .collect::<BTreeSet<_>>()
            .len()
    }

    /// Failed iterations by class, those that occurred.
    pub fn failed_by_class(&self) -> Vec<(FailureClass, u64)> {
        let count = |class| self.failed.get(&class).copied().unwrap_or(0);
        FailureClass::ALL
            .into_iter()
            .map(|class| (class, count(class)))
            .filter(|(_, count)| *count > 0)
            .collect()
    }

    /// Invalid iterations by cause, those that occurred.
    pub fn invalid_by_cause(&self) -> Vec<(InvalidCause, u64)> {
        by_cause(&self.invalid)
    }

    /// Attempts that were followed by a new one, by the cause.
    pub fn repeated_by_cause(&self) -> Vec<(InvalidCause, u64)> {
        by_cause(&self.repeated)
    }

    /// The latest notices, oldest first.
    pub fn notices(&self) -> impl Iterator<Item = &str> {
        self.notices.iter().map(String::as_str)
    }

    /// Why nothing more is given out, once that is so.
    pub fn stopping(&self) -> Option<&str> {
        self.stopping.as_deref()
    }

    /// The HTML report's absolute path, once it is there.
    pub fn report(&self) -> Option<&str> {
        self.report.as_deref()
    }

    /// How the run ended, once it has.
    pub fn state(&self) -> Option<RunState> {
        self.state
    }

    /// Milliseconds since the run started.
    pub fn elapsed_ms(&self, now: i64) -> i64 {
        self.started_at
            .map_or(0, |start| self.ended_at.unwrap_or(now).saturating_sub(start).max(0))
    }

    /// Milliseconds that the rest will take at the speed so far. `None` while that would be a guess: before enough has
    /// finished (ten iterations and twice what runs at once), and once nothing waits any more.
    pub fn remaining_ms(&self, now: i64) -> Option<i64> {
        let rest = self.pending() + self.totals.running;
        let settled = self.finished_here >= ETA_AFTER.max(2 * self.most_running);
        if !settled || self.pending() == 0 || self.stopping.is_some() || self.state.is_some() {
            return None;
        }
        let elapsed = u64::try_from(self.elapsed_ms(now)).ok()?;
        i64::try_from(elapsed.checked_mul(rest)?.checked_div(self.finished_here)?).ok()
    }
}

fn decrease<K: Ord>(counts: &mut BTreeMap<K, u64>, key: K) {
    if let Some(count) = counts.get_mut(&key) {
        *count = count.saturating_sub(1);
    }
}

fn by_cause(counts: &BTreeMap<InvalidCause, u64>) -> Vec<(InvalidCause, u64)> {
    let count = |cause| counts.get(&cause).copied().unwrap_or(0);
    InvalidCause::ALL
        .into_iter()
        .map(|cause| (cause, count(cause)))
        .filter(|(_, count)| *count > 0)
        .collect()
}

#[cfg(test)]
mod tests;
