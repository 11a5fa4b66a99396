//! Cells of tables.

use crate::markdown::code;
use crate::record::RunRecord;
use crate::report::rate::{RateView, invalid_by_cause};
use crate::report::{Example, Tally};
use crate::stats::Rate;

/// Names are cut here.
pub(super) const NAME: usize = 80;

/// Messages are cut here.
pub(super) const MESSAGE: usize = 200;

/// Rate and range; only the range where N is too small for a rate.
pub(super) fn rate_cells(rate: Rate) -> [String; 3] {
    let view = RateView::of(rate);
    let or_none = |words: Option<String>| words.unwrap_or_else(|| "–".to_owned());
    [view.counts, or_none(view.rate), or_none(view.range)]
}

pub(super) fn invalid(tally: &Tally) -> String {
    invalid_by_cause(tally).unwrap_or_else(|| "none".to_owned())
}

pub(super) fn agent_name(run: &RunRecord, agent: usize) -> String {
    run.agents
        .get(agent)
        .map(|agent| code(&agent.name, NAME))
        .unwrap_or_default()
}

/// Agent, test case and iteration.
pub(in crate::report::markdown) fn example(run: &RunRecord, example: Example) -> String {
    let agent = run.agent_of(example.cell).map_or("", |agent| agent.name.as_str());
    let case = run.test_case_of(example.cell).map_or("", |case| case.name.as_str());
    code(&format!("{agent} × {case}, iteration {}", example.iteration), 2 * NAME)
}
