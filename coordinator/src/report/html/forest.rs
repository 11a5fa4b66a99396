//! The forest plot: a rate and its range a row, all on one scale.

use crate::record::RunRecord;
use crate::report::Figures;
use crate::report::forest::{Forest, What};
use crate::report::rate::{RateView, invalid_by_cause};
use crate::report::suite::with_invalid_words;

/// The plot.
pub(super) struct ForestView {
    pub(super) rows: Vec<ForestRowView>,
    /// Groups that have no row.
    pub(super) left_out: usize,
    pub(super) several_agents: bool,
}

/// One rate.
pub(super) struct ForestRowView {
    pub(super) agent: String,
    /// What it is about: `these prompts`, `prompts like these`, a folder, a test case.
    pub(super) about: String,
    /// Whether it is about an agent as a whole.
    pub(super) whole: bool,
    pub(super) rate: RateView,
    pub(super) method: String,
    /// What is in no rate, by cause.
    pub(super) invalid: Option<String>,
    /// What the range would be with them.
    pub(super) with_invalid: Option<String>,
}

impl ForestView {
    pub(super) fn of(run: &RunRecord, figures: &Figures) -> Self {
        let forest = Forest::of(run, figures);
        let rows = forest
            .rows
            .into_iter()
            .map(|row| ForestRowView {
                agent: run
                    .agents
                    .get(row.agent)
                    .map(|agent| agent.name.clone())
                    .unwrap_or_default(),
                invalid: invalid_by_cause(&row.tally),
                with_invalid: with_invalid_words(&row.tally).filter(|_| row.is_about_iterations()),
                whole: !matches!(row.what, What::Group(_)),
                about: match row.what {
                    What::These => "these prompts".to_owned(),
                    What::Pooled => "these prompts, pooled".to_owned(),
                    What::Like => "prompts like these".to_owned(),
                    What::Distinct => "test cases that passed every time".to_owned(),
                    What::Group(name) => name,
                },
                rate: RateView::of(row.estimate.rate),
                method: row.estimate.method,
            })
            .collect();
        Self {
            rows,
            left_out: forest.left_out,
            several_agents: run.agents.len() > 1,
        }
    }
}
