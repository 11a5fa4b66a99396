//! Expected X, called Y.

use std::collections::BTreeMap;

use crate::record::RunRecord;
use crate::report::rate::RateView;
use crate::report::{Figures, Instead};

use super::example::ExampleLink;

/// Rows and columns shown at most; the rest is in `results.json`.
const MOST_ROWS: usize = 25;
const MOST_COLUMNS: usize = 8;

/// The table.
pub(super) struct ConfusionView {
    /// Tools that were called in the place of others, most often first; the last column is for none.
    pub(super) columns: Vec<String>,
    pub(super) rows: Vec<ConfusionRow>,
    /// Rows and pairs that are not shown.
    pub(super) left_out: u64,
}

/// One expected tool.
pub(super) struct ConfusionRow {
    pub(super) expected: String,
    /// Iterations that called it itself.
    pub(super) called: RateView,
    pub(super) example: Option<ExampleLink>,
    /// One for each column, and one for nothing else.
    pub(super) cells: Vec<Option<ConfusionCell>>,
}

/// What was called instead.
pub(super) struct ConfusionCell {
    pub(super) iterations: u64,
    pub(super) example: ExampleLink,
}

impl ConfusionView {
    /// Rows that were missed most often first; tools that were always called are left out when there are too many.
    pub(super) fn of(run: &RunRecord, figures: &Figures) -> Self {
        let mut by_column: BTreeMap<&str, u64> = BTreeMap::new();
        let mut pairs = BTreeMap::new();
        for (expected, instead, iterations, example) in figures.confusion.instead() {
            if let Instead::Called(tool) = instead {
                *by_column.entry(tool).or_default() += iterations;
            }
            pairs.insert((expected, instead.clone()), (iterations, example));
        }
        let mut columns: Vec<(&str, u64)> = by_column.into_iter().collect();
        columns.sort_by_key(|(_, iterations)| std::cmp::Reverse(*iterations));
        let hidden = columns.split_off(columns.len().min(MOST_COLUMNS));
        let columns: Vec<String> = columns.into_iter().map(|(tool, _)| tool.to_owned()).collect();
        let mut rows: Vec<_> = figures.confusion.expected().collect();
        rows.sort_by_key(|(_, called, _)| std::cmp::Reverse(called.n - called.count));
        let more = rows.split_off(rows.len().min(MOST_ROWS));
        let rows = rows
            .into_iter()
            .map(|(expected, called, example)| {
                let cell = |instead: Instead| {
                    pairs
                        .get(&(expected, instead))
                        .map(|(iterations, example)| ConfusionCell {
                            iterations: *iterations,
                            example: ExampleLink::of(run, *example),
                        })
                };
                ConfusionRow {
                    expected: expected.to_owned(),
                    called: RateView::of(called),
                    example: example.map(|example| ExampleLink::of(run, example)),
                    cells: columns
                        .iter()
                        .map(|tool| cell(Instead::Called(tool.clone())))
                        .chain([cell(Instead::NothingElse)])
                        .collect(),
                }
            })
            .collect();
        Self {
            columns,
            rows,
            left_out: figures.confusion.left_out() + (hidden.len() + more.len()) as u64,
        }
    }
}
