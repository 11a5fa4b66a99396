//! What stays on the screen when a run is over: a line per test case and a box.

use ratatui::style::Style;
use ratatui::text::{Line, Span};

use super::figures::{file_url, rate};
use super::judge;
use super::marks::{Cell, Counts};
use super::model::{Plan, View};
use super::row::Columns;
use super::text::{fit, flow, pad, width};
use super::theme::Theme;
use crate::record::RunState;
use crate::words::counted;

/// In a list of more lines than this, only cells that failed have lines, and of those no more than this.
const MOST_LINES: usize = 200;
/// Widest list and box; beyond it lines are hard to follow.
const WIDEST: usize = 100;
/// More agents than this are compared in the report only.
const MOST_AGENTS: usize = 12;

/// The summary of a run in lines of at most `columns` columns (addresses and commands are never cut). `resume` is the
/// command that goes on with this run, without its id. Empty when the run never got as far as a plan.
pub(super) fn summary(view: &View, columns: usize, resume: Option<&str>, theme: Theme) -> Vec<Line<'static>> {
    let Some(plan) = view.plan() else { return Vec::new() };
    let columns = columns.clamp(20, WIDEST);
    let mut lines = results(view, plan, columns, theme);
    lines.push(Line::default());
    lines.extend(boxed(view, plan, columns, resume, theme));
    lines
}

/// A line per cell; under the name of its agent when there are several. In a long list only cells that failed have lines.
fn results(view: &View, plan: &Plan, columns: usize, theme: Theme) -> Vec<Line<'static>> {
    let layout = Columns::settled(plan, columns - judge::room(plan).min(columns));
    let all = view.cells().len() <= MOST_LINES;
    let mut lines = Vec::new();
    let mut listed = 0;
    for (agent, label) in plan.agents.iter().enumerate() {
        let first = agent * plan.test_cases.len();
        let cells = view.cells().iter().enumerate().skip(first).take(plan.test_cases.len());
        if plan.agents.len() > 1 {
            if agent > 0 {
                lines.push(Line::default());
            }
            lines.push(Line::styled(fit(&label.name, columns), theme.strong()));
        }
        let mut unlisted = Unlisted::default();
        for ((index, cell), name) in cells.zip(&plan.test_cases) {
            if all || (cell.is_failing() && listed < MOST_LINES) {
                listed += 1;
                let mut line = layout.settled_line(name, cell, plan.iterations, theme);
                let room = columns.saturating_sub(line.width());
                if let Some(text) = judge::disagreements(view.disagreements(index), room) {
                    line.push_span(Span::styled(text, theme.warning()));
                }
                lines.push(line);
            } else {
                unlisted.count(cell, plan.iterations);
            }
        }
        lines.extend(
            unlisted
                .lines()
                .map(|line| Line::styled(fit(&line, columns), theme.dim())),
        );
    }
    lines
}

/// Cells of a long list that have no line of their own.
#[derive(Debug, Default)]
struct Unlisted {
    passed: u64,
    failing: u64,
    unfinished: u64,
}

impl Unlisted {
    fn count(&mut self, cell: &Cell, iterations: u32) {
        if cell.is_failing() {
            self.failing += 1;
        } else if cell.counts().passed >= u64::from(iterations) {
            self.passed += 1;
        } else {
            self.unfinished += 1;
        }
    }

    fn lines(&self) -> impl Iterator<Item = String> {
        [
            (self.failing, "✗", "failed, too: see the report"),
            (self.unfinished, "·", "not finished, without a failure"),
            (self.passed, "✓", "passed every time"),
        ]
        .into_iter()
        .filter(|(count, ..)| *count > 0)
        .map(|(count, mark, what)| format!("{mark} {} {what}", counted(count, "test case")))
    }
}

/// The box, and under it what must not be broken and does not fit in it.
fn boxed(view: &View, plan: &Plan, columns: usize, resume: Option<&str>, theme: Theme) -> Vec<Line<'static>> {
    let inner = columns - 4;
    let mut lines: Vec<(String, Style)> = Vec::new();
    for line in flow(&[title(view)], inner) {
        lines.push((line, theme.strong()));
    }
    for line in flow(&totals(view, plan), inner) {
        lines.push((line, Style::new()));
    }
    let details = [failures(view), invalid(view), repeated(view)];
    for line in details.iter().flat_map(|parts| flow(parts, inner)) {
        lines.push((line, theme.warning()));
    }
    for line in flow(&judge::summary(view), inner) {
        lines.push((line, Style::new()));
    }
    if (2..=MOST_AGENTS).contains(&plan.agents.len()) {
        let names = plan
            .agents
            .iter()
            .map(|agent| width(&agent.name))
            .max()
            .unwrap_or(0)
            .min(inner / 3);
        for (agent, label) in plan.agents.iter().enumerate() {
            let counts = figures(&view.totals_of_agent(agent));
            lines.push((
                fit(&format!("{}  {}", pad(&label.name, names), counts.join(" · ")), inner),
                Style::new(),
            ));
        }
    }
    let mut below = Vec::new();
    let report = view.report().map(|path| format!("Report: {}", file_url(path)));
    let resume = resume.filter(|_| view.state() != Some(RunState::Completed));
    let resume = resume.map(|command| format!("Go on with: {command} {}", plan.id));
    for (text, style) in report
        .map(|text| (text, theme.link()))
        .into_iter()
        .chain(resume.map(|text| (text, theme.strong())))
    {
        if width(&text) <= inner {
            lines.push((text, style));
        } else {
            below.push(Line::styled(text, style));
        }
    }
    let mut drawn = frame(&lines, theme);
    drawn.extend(below);
    drawn
}

/// How it ended.
fn title(view: &View) -> String {
    match (view.state(), view.stopping()) {
        (Some(RunState::Completed), _) => "Run finished".to_owned(),
        (Some(RunState::Aborted), Some(reason)) => format!("Run aborted: {reason}"),
        (Some(RunState::Aborted), None) => "Run aborted".to_owned(),
        (Some(RunState::Running) | None, _) => "Run ended before its end was recorded".to_owned(),
    }
}

/// What was planned and what came of it.
fn totals(view: &View, plan: &Plan) -> Vec<String> {
    let mut parts = Vec::new();
    if plan.agents.len() > 1 {
        parts.push(counted(plan.agents.len() as u64, "agent"));
    }
    parts.push(counted(plan.test_cases.len() as u64, "test case"));
    let total = view.total_iterations();
    parts.push(counted(total, "iteration"));
    parts.extend(figures(view.totals()));
    let without = total.saturating_sub(view.totals().finished());
    if without > 0 {
        parts.push(format!("{without} without result"));
    }
    parts
}

/// `6 passed`, `0 failed`, `2 invalid`, `100% pass [61–100%, N=6]`.
fn figures(counts: &Counts) -> Vec<String> {
    let mut parts = vec![format!("{} passed", counts.passed), format!("{} failed", counts.failed)];
    if counts.invalid > 0 {
        parts.push(format!("{} invalid", counts.invalid));
    }
    parts.extend(rate(counts.passed, counts.decided()));
    parts
}

/// Failures by class.
fn failures(view: &View) -> Vec<String> {
    titled(
        "Failed",
        view.failed_by_class()
            .into_iter()
            .map(|(class, count)| format!("{} {count}", class.name().replace('_', " "))),
    )
}

/// Invalid iterations by cause.
fn invalid(view: &View) -> Vec<String> {
    let counts = view.invalid_by_cause();
    titled(
        "Invalid, so in no rate",
        counts.iter().map(|(cause, count)| format!("{} {count}", cause.name())),
    )
}

/// Attempts that were followed by a new one, by the cause.
fn repeated(view: &View) -> Vec<String> {
    let counts = view.repeated_by_cause();
    titled(
        "Attempts repeated",
        counts.iter().map(|(cause, count)| format!("{} {count}", cause.name())),
    )
}

/// The parts, the first one with a title before it.
fn titled(title: &str, parts: impl Iterator<Item = String>) -> Vec<String> {
    parts
        .enumerate()
        .map(|(index, part)| if index == 0 { format!("{title}: {part}") } else { part })
        .collect()
}

/// A rounded box around lines.
fn frame(lines: &[(String, Style)], theme: Theme) -> Vec<Line<'static>> {
    let inner = lines.iter().map(|(text, _)| width(text)).max().unwrap_or(0);
    let edge = theme.dim();
    let rule = "─".repeat(inner + 2);
    let mut drawn = vec![Line::styled(format!("╭{rule}╮"), edge)];
    for (text, style) in lines {
        drawn.push(Line::from(vec![
            Span::styled("│ ", edge),
            Span::styled(pad(text, inner), *style),
            Span::styled(" │", edge),
        ]));
    }
    drawn.push(Line::styled(format!("╰{rule}╯"), edge));
    drawn
}
