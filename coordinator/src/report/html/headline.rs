//! The first lines of the page: what was run, and what it came to.

use crate::loading;
use crate::record::{RunRecord, RunState};
use crate::report::gate::Gate;
use crate::report::time::{readable, rfc3339};
use crate::report::{Figures, RunData};
use crate::threshold::Shortfall;

use crate::report::rate::{RateView, failed_by_class, invalid_by_cause};
use crate::words::{count, counted, dollars, duration, median_and_tail};

/// What stands at the top.
pub(super) struct HeadlineView {
    pub(super) servers: String,
    pub(super) state: &'static str,
    pub(super) state_words: &'static str,
    pub(super) started: String,
    pub(super) started_iso: String,
    pub(super) took: Option<String>,
    pub(super) written: String,
    pub(super) rate: RateView,
    /// `2 agents × 4 test cases × 10 iterations`.
    pub(super) shape: String,
    pub(super) finished: u64,
    pub(super) planned: u64,
    pub(super) tiles: Vec<Tile>,
    pub(super) notices: Vec<String>,
    pub(super) gate: Option<GateView>,
}

/// The thresholds of the run, and what became of them.
pub(super) struct GateView {
    pub(super) asked: String,
    pub(super) verdict: &'static str,
    /// A sentence for each that was not met, the first ones.
    pub(super) missed: Vec<MissedView>,
    /// Not shown.
    pub(super) more: usize,
}

/// A sentence about a threshold, the name of a test case in it apart.
pub(super) struct MissedView {
    pub(super) before: String,
    /// `None` where it is about the suite.
    pub(super) test_case: Option<String>,
    pub(super) after: String,
}

impl MissedView {
    fn of(shortfall: &Shortfall) -> Self {
        let sentence = shortfall.sentence();
        Self {
            test_case: sentence.test_case.map(str::to_owned),
            before: sentence.before,
            after: sentence.after,
        }
    }
}

/// Thresholds shown as not met at most.
const MOST_MISSED: usize = 20;

impl From<Gate> for GateView {
    fn from(gate: Gate) -> Self {
        let missed = gate.missed.as_deref().unwrap_or_default();
        Self {
            verdict: gate.verdict(),
            missed: missed.iter().take(MOST_MISSED).map(MissedView::of).collect(),
            more: missed.len().saturating_sub(MOST_MISSED),
            asked: gate.asked,
        }
    }
}

/// One headline figure.
pub(super) struct Tile {
    /// Its mark and colour.
    pub(super) status: &'static str,
    pub(super) label: &'static str,
    pub(super) value: String,
    pub(super) detail: String,
}

impl HeadlineView {
    pub(super) fn of(data: &dyn RunData, figures: &Figures) -> Self {
        let run = data.run();
        let total = &figures.total;
        let started = run.started_at_unix_ms;
        let end = match data.state() {
            RunState::Running => Some(data.now_unix_ms()),
            RunState::Completed | RunState::Aborted => figures.last_end_unix_ms,
        };
        Self {
            servers: servers(run, figures),
            state: match data.state() {
                RunState::Running => "running",
                RunState::Completed => "completed",
                RunState::Aborted => "aborted",
            },
            state_words: match data.state() {
                RunState::Running => "in progress",
                RunState::Completed => "completed",
                RunState::Aborted => "stopped early",
            },
            started: readable(started),
            started_iso: rfc3339(started),
            took: end
                .and_then(|end| milliseconds(end.saturating_sub(started)))
                .map(duration),
            written: readable(data.now_unix_ms()),
            rate: RateView::of(total.tally.pass_rate()),
            shape: [
                counted(run.agents.len() as u64, "agent"),
                counted(run.test_cases.len() as u64, "test case"),
                counted(u64::from(run.iterations), "iteration"),
            ]
            .join(" × "),
            finished: total.tally.total() - total.tally.aborted,
            planned: run.total_iterations(),
            tiles: tiles(run, figures),
            notices: notices(run, figures),
            gate: Gate::of(run, data.state(), figures).map(Into::into),
        }
    }
}

fn tiles(run: &RunRecord, figures: &Figures) -> Vec<Tile> {
    let total = &figures.total;
    let tally = &total.tally;
    let seen = |n: u64, status| if n > 0 { status } else { "none" };
    let tile = |status, label, value, detail| Tile {
        status,
        label,
        value,
        detail,
    };
    let after_colon = |words: Option<String>| {
        words
            .and_then(|words| Some(words.split_once(": ")?.1.to_owned()))
            .unwrap_or_default()
    };
    let mut tiles = vec![
        tile(
            seen(tally.passed, "passed"),
            "passed",
            tally.passed.to_string(),
            "every expectation met".to_owned(),
        ),
        tile(
            seen(tally.failed(), "failed"),
            "failed",
            tally.failed().to_string(),
            after_colon(failed_by_class(tally)),
        ),
        tile(
            seen(tally.invalid(), "invalid"),
            "invalid",
            tally.invalid().to_string(),
            match after_colon(invalid_by_cause(tally)) {
                causes if causes.is_empty() => "nothing got in the way".to_owned(),
                causes => format!("{causes} – in no rate"),
            },
        ),
    ];
    let faults = total.attempts.server_fault_rate();
    let words = RateView::of(faults);
    tiles.push(tile(
        seen(faults.count, "invalid"),
        "server faults",
        words.rate.unwrap_or(words.counts.clone()),
        match words.range {
            Some(range) => format!("{} attempts, 95% range {range}", words.counts),
            None => "no attempt that counts".to_owned(),
        },
    ));
    let open = run.total_iterations().saturating_sub(tally.total());
    if open + tally.aborted > 0 {
        let parts = [
            (tally.aborted, "aborted"),
            (total.waiting, "waiting for a new attempt"),
            (open.saturating_sub(total.waiting), "not run yet"),
        ];
        let parts: Vec<String> = parts
            .iter()
            .filter(|(n, _)| *n > 0)
            .map(|(n, what)| format!("{n} {what}"))
            .collect();
        tiles.push(tile(
            "open",
            "without result",
            (open + tally.aborted).to_string(),
            parts.join(", "),
        ));
    }
    if let Some(words) = median_and_tail(total.duration_ms(), duration) {
        tiles.push(split_tile("median duration", &words));
    }
    if let Some(words) = median_and_tail(total.tokens(), count) {
        tiles.push(split_tile("median tokens", &words));
    }
    if let Some(cost) = total.usage.cost_usd.filter(|cost| cost.is_finite()) {
        let each = median_and_tail(total.cost_usd(), dollars)
            .map(|words| format!("median {words}"))
            .unwrap_or_default();
        tiles.push(tile("none", "cost", dollars(cost), each));
    }
    tiles.extend(super::judge::tile(figures));
    tiles
}

/// `1.2 s, p95 3.4 s (N 10)` with the median large and the rest small.
fn split_tile(label: &'static str, words: &str) -> Tile {
    let (value, detail) = words.split_once(", ").unwrap_or((words, ""));
    Tile {
        status: "none",
        label,
        value: value.to_owned(),
        detail: detail.to_owned(),
    }
}

/// Names of the servers under test, with what they call themselves.
fn servers(run: &RunRecord, figures: &Figures) -> String {
    let names: Vec<String> = run
        .servers
        .iter()
        .map(|server| {
            let face = figures.servers.faces(&server.name).into_iter().next();
            match face.and_then(|(face, _)| Some((face.name.as_ref()?, face.version.as_deref()))) {
                Some((name, Some(version))) => format!("{name} {version}"),
                Some((name, None)) => name.clone(),
                None => server.name.clone(),
            }
        })
        .collect();
    names.join(", ")
}

/// What a reader has to know before trusting any figure.
fn notices(run: &RunRecord, figures: &Figures) -> Vec<String> {
    let stopped = run
        .stopped
        .iter()
        .map(|why| format!("The run was stopped before its end: {why}"));
    let mut notices: Vec<String> = stopped.chain(run.notices.iter().cloned()).collect();
    for agent in run.agents.iter().filter(|agent| agent.own_login) {
        notices.push(format!("{}: own login, not isolated.", agent.name));
    }
    for (agent, seen) in run.agents.iter().zip(&figures.loadings) {
        notices.extend(seen.iter().find_map(|seen| loading::surprise(agent, *seen)));
    }
    for (cell, server) in figures.servers.drifted().take(20) {
        if let (Some(agent), Some(case)) = (run.agent_of(cell), run.test_case_of(cell)) {
            notices.push(format!(
                "The tool list of {server} changed between iterations of {} × {}.",
                agent.name, case.name
            ));
        }
    }
    notices
}

#[expect(clippy::cast_precision_loss, reason = "a duration in milliseconds is far below 2^52")]
fn milliseconds(ms: i64) -> Option<f64> {
    (ms >= 0).then_some(ms as f64)
}
