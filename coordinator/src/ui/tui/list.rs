//! The list of test cases: which lines it has, and in which order.

use ratatui::text::{Line, Span};

use super::keys::Filter;
use crate::ui::marks::{Cell, Counts};
use crate::ui::model::{Plan, View};
use crate::ui::row::{Columns, tally};
use crate::ui::text::{fit, pad, width};
use crate::ui::theme::Theme;

/// A line of the list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Entry {
    /// An agent's name and totals (its index), when there are several.
    Agent(usize),
    /// A cell (its index).
    Cell(usize),
}

/// The lines of the list. In one that does not fit into `page` lines, failing test cases come first.
pub(super) fn entries(view: &View, plan: &Plan, filter: Filter, page: usize) -> Vec<Entry> {
    let cases = plan.test_cases.len();
    let several = plan.agents.len() > 1;
    let headings = if several { plan.agents.len() } else { 0 };
    let failing_first = view.cells().len() + headings > page;
    let mut entries = Vec::new();
    for agent in 0..plan.agents.len() {
        let cells = (agent * cases..(agent + 1) * cases)
            .filter(|index| view.cells().get(*index).is_some_and(|cell| listed(cell, filter)));
        let mut cells: Vec<usize> = cells.collect();
        if failing_first {
            cells.sort_by_key(|index| !view.cells().get(*index).is_some_and(Cell::is_failing));
        }
        if several && !cells.is_empty() {
            entries.push(Entry::Agent(agent));
        }
        entries.extend(cells.into_iter().map(Entry::Cell));
    }
    entries
}

fn listed(cell: &Cell, filter: Filter) -> bool {
    match filter {
        Filter::All => true,
        Filter::Failing => cell.is_failing(),
        Filter::Running => cell.counts().running > 0,
    }
}

/// A line of the list, drawn.
pub(super) fn line(
    entry: Entry,
    view: &View,
    plan: &Plan,
    columns: &Columns,
    spinner: char,
    theme: Theme,
    width: usize,
) -> Line<'static> {
    match entry {
        Entry::Agent(agent) => heading(view, plan, agent, theme, width),
        Entry::Cell(index) => {
            let name = index
                .checked_rem(plan.test_cases.len())
                .and_then(|case| plan.test_cases.get(case));
            match (name, view.cells().get(index)) {
                (Some(name), Some(cell)) => columns.live_line(name, cell, plan.iterations, spinner, theme),
                _ => Line::default(),
            }
        }
    }
}

fn heading(view: &View, plan: &Plan, agent: usize, theme: Theme, columns: usize) -> Line<'static> {
    let Some(label) = plan.agents.get(agent) else {
        return Line::default();
    };
    let counts: Counts = view.totals_of_agent(agent);
    let tally = tally(&counts, theme);
    let taken: usize = tally.iter().map(Span::width).sum();
    let names = plan.agents.iter().map(|agent| width(&agent.name)).max().unwrap_or(0);
    let name = pad(&label.name, names.min(columns.saturating_sub(taken + 2)));
    let rest = columns.saturating_sub(width(&name) + 2 + taken + 2);
    let mut spans = vec![Span::styled(name, theme.strong()), Span::raw("  ")];
    spans.extend(tally);
    spans.push(Span::styled(format!("  {}", fit(&label.detail, rest)), theme.dim()));
    Line::from(spans)
}
