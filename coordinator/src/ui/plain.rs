//! The run as lines of a log: no control codes, one line per thing worth one.

use super::figures::{about, clock, file_url, invalid, live_rate, repeated, short};
use super::judge;
use super::marks::Mark;
use super::model::View;
use super::summary::summary;
use super::text::clean;
use super::theme::{Theme, without_style};
use crate::event::{AttemptKey, Envelope, Event};
use crate::outcome::Outcome;
use crate::words::counted;

/// Time between two progress lines while something happens.
const PROGRESS_EVERY_MS: i64 = 30_000;
/// Longest silence while nothing does.
const LONGEST_SILENCE_MS: i64 = 60_000;
/// In runs of more iterations than this, passed ones are counted in progress lines and get none of their own.
const MOST_PASSED_LISTED: u64 = 500;

/// Turns events into lines. Time comes from the events and from [`PlainLog::tick`].
#[derive(Debug, Default)]
pub(super) struct PlainLog {
    view: View,
    last_line_at: i64,
    last_progress_at: i64,
    finished_at_last_progress: u64,
}

impl PlainLog {
    /// The lines that an event is worth.
    pub(super) fn on(&mut self, envelope: &Envelope) -> Vec<String> {
        let known = self.view.plan().is_some();
        self.view.apply(envelope);
        let at = envelope.at;
        let lines = match &envelope.event {
            Event::RunStarted { already, .. } => {
                self.last_progress_at = at;
                self.finished_at_last_progress = self.view.totals().finished() + self.view.judged().answered();
                self.opening(*already)
            }
            // What is said before the plan stands under it.
            Event::Notice { text } if known => vec![format!("notice: {}", clean(text))],
            // Before the plan come the results that a resumed run brings along.
            Event::AttemptFinished {
                key,
                outcome,
                reason,
                last,
                duration_ms,
            } if known => self
                .attempt_finished(*key, *outcome, reason, *last, *duration_ms)
                .map(|line| vec![self.stamped(at, &line)])
                .unwrap_or_default(),
            Event::Judged { key, .. } if known => judge::line(&self.view, &envelope.event, &self.name(*key))
                .map(|line| vec![self.stamped(at, &line)])
                .unwrap_or_default(),
            Event::Stopping { reason } => vec![self.stamped(at, &format!("stopping: {}", clean(reason)))],
            Event::ReportWritten { path } => vec![format!("report: {}", file_url(path))],
            Event::Notice { .. }
            | Event::AttemptFinished { .. }
            | Event::Judged { .. }
            | Event::AttemptStarted { .. }
            | Event::TurnStarted { .. }
            | Event::CallStarted { .. }
            | Event::CallEnded { .. }
            | Event::RunFinished { .. } => Vec::new(),
        };
        if !lines.is_empty() {
            self.last_line_at = at;
        }
        lines
    }

    /// A progress line, when one is due at `now`.
    pub(super) fn tick(&mut self, now: i64) -> Option<String> {
        if self.view.plan().is_none() || self.view.state().is_some() {
            return None;
        }
        let finished = self.view.totals().finished() + self.view.judged().answered();
        let moved = finished != self.finished_at_last_progress;
        let due = moved && now - self.last_progress_at >= PROGRESS_EVERY_MS;
        let silent = now - self.last_line_at >= LONGEST_SILENCE_MS && now - self.last_progress_at >= LONGEST_SILENCE_MS;
        if !due && !silent {
            return None;
        }
        self.last_progress_at = now;
        self.last_line_at = now;
        self.finished_at_last_progress = finished;
        Some(self.stamped(now, &self.progress(now, moved)))
    }

    /// What is said when no event comes any more.
    pub(super) fn closing(&self, columns: usize, resume: Option<&str>) -> Vec<String> {
        let lines = summary(&self.view, columns, resume, Theme { colour: false });
        let blank = (!lines.is_empty()).then(String::new);
        blank.into_iter().chain(lines.iter().map(without_style)).collect()
    }

    fn opening(&self, already: u64) -> Vec<String> {
        let Some(plan) = self.view.plan() else {
            return Vec::new();
        };
        let total = self.view.total_iterations();
        let mut lines = vec![format!(
            "run {} of {}: {} × {} × {} = {}",
            plan.id,
            plan.config_file,
            counted(plan.agents.len() as u64, "agent"),
            counted(plan.test_cases.len() as u64, "test case"),
            counted(u64::from(plan.iterations), "iteration"),
            counted(total, "conversation"),
        )];
        lines.extend(
            plan.agents
                .iter()
                .map(|agent| format!("agent {}: {}", agent.name, agent.detail)),
        );
        if already > 0 {
            lines.push(format!("resumed: {already} of {total} had a result already"));
        }
        if total > MOST_PASSED_LISTED {
            lines.push(format!(
                "with {total} iterations, passed ones are counted but not listed"
            ));
        }
        lines.extend(self.view.notices().map(|notice| format!("notice: {notice}")));
        lines
    }

    fn attempt_finished(
        &self,
        key: AttemptKey,
        outcome: Outcome,
        reason: &str,
        last: bool,
        duration_ms: u64,
    ) -> Option<String> {
        let glyph = Mark::of(outcome, true).glyph();
        let name = self.name(key);
        let took = short(duration_ms);
        let why = clean(reason);
        let because = if why.is_empty() {
            String::new()
        } else {
            format!(": {why}")
        };
        match outcome {
            Outcome::Passed if self.view.total_iterations() > MOST_PASSED_LISTED => None,
            Outcome::Passed => Some(format!("{glyph} passed {name} in {took}")),
            Outcome::Aborted => Some(format!("{glyph} aborted {name}{because}")),
            _ if last => Some(format!("{glyph} {outcome} {name} in {took}{because}")),
            // A new attempt is made only when the run is gone on with.
            _ if self.view.stopping().is_some() => Some(format!(
                "· {outcome} {name} attempt {}, left without a result{because}",
                key.attempt
            )),
            _ => Some(format!(
                "↻ {outcome} {name} attempt {}, tried again{because}",
                key.attempt
            )),
        }
    }

    /// `compare two forecasts #2`, with the agent before it when there are several.
    fn name(&self, key: AttemptKey) -> String {
        let cell = key.cell as usize;
        let named = self.view.plan().and_then(|plan| {
            let cases = plan.test_cases.len();
            let agent = plan.agents.get(cell.checked_div(cases)?)?;
            let case = plan.test_cases.get(cell.checked_rem(cases)?)?;
            Some(if plan.agents.len() > 1 {
                format!("{}: {case}", agent.name)
            } else {
                case.clone()
            })
        });
        format!("{} #{}", named.unwrap_or_else(|| format!("cell {cell}")), key.iteration)
    }

    /// How far it is; when nothing moved, also what it waits for.
    fn progress(&self, now: i64, moved: bool) -> String {
        let totals = self.view.totals();
        let mut parts = vec![
            format!("{}/{} finished", totals.finished(), self.view.total_iterations()),
            format!("{} passed", totals.passed),
            format!("{} failed", totals.failed),
        ];
        parts.extend(invalid(&self.view));
        parts.extend(live_rate(totals.passed, totals.decided()));
        parts.push(format!(
            "{} running on {}",
            totals.running,
            counted(self.view.busy_workers() as u64, "worker")
        ));
        parts.extend(repeated(&self.view));
        parts.extend(judge::progress(&self.view));
        parts.extend(self.view.remaining_ms(now).map(|ms| format!("{} left", about(ms))));
        let oldest = self.view.running().iter().min_by_key(|(_, running)| running.started_at);
        if let Some((key, running)) = oldest.filter(|_| !moved) {
            let since = clock(now - running.started_at);
            parts.push(format!("longest: {} for {since}", self.name(*key)));
        }
        format!("progress: {}", parts.join(" · "))
    }

    fn stamped(&self, at: i64, line: &str) -> String {
        format!("{:>7}  {line}", clock(self.view.elapsed_ms(at)))
    }
}
