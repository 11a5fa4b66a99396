//! What stands in the agents' way: arguments, errors, calls that were not needed, faults of the server.

use crate::record::RunRecord;
use crate::report::Figures;
use crate::report::rate::RateView;

use super::example::ExampleLink;

/// Rows of each table; the rest is in `results.json`.
const MOST_ROWS: usize = 20;

/// Rows, and how much is not shown.
pub(super) struct Table<T> {
    pub(super) rows: Vec<T>,
    pub(super) left_out: u64,
}

impl<T> Table<T> {
    fn of<U>(mut all: Vec<U>, left_out: u64, view: impl FnMut(U) -> T) -> Self {
        let hidden = all.len().saturating_sub(MOST_ROWS);
        all.truncate(MOST_ROWS);
        Self {
            rows: all.into_iter().map(view).collect(),
            left_out: left_out + hidden as u64,
        }
    }
}

/// All four tables.
pub(super) struct TroubleView {
    /// Calls whose arguments fit, out of those that could be checked.
    pub(super) valid_calls: RateView,
    pub(super) arguments: Table<ArgumentRow>,
    pub(super) errors: Table<ErrorRow>,
    pub(super) unneeded_rate: RateView,
    pub(super) unneeded: Table<UnneededRow>,
    pub(super) faults: Table<FaultRow>,
}

pub(super) struct ArgumentRow {
    pub(super) tool: String,
    /// `(all)` for the arguments as a whole.
    pub(super) field: String,
    pub(super) problem: String,
    /// `its schema` or `the test case`.
    pub(super) says: &'static str,
    pub(super) calls: u64,
    pub(super) iterations: u64,
    pub(super) sample: String,
    pub(super) example: ExampleLink,
}

pub(super) struct ErrorRow {
    pub(super) tool: String,
    pub(super) text: String,
    pub(super) not_recovered: u64,
    pub(super) iterations: u64,
    pub(super) calls: u64,
    pub(super) example: ExampleLink,
}

pub(super) struct UnneededRow {
    pub(super) tool: String,
    pub(super) calls: u64,
    pub(super) iterations: u64,
    pub(super) example: ExampleLink,
}

pub(super) struct FaultRow {
    pub(super) text: String,
    pub(super) attempts: u64,
    pub(super) followed: u64,
    pub(super) example: ExampleLink,
}

impl TroubleView {
    pub(super) fn of(run: &RunRecord, figures: &Figures) -> Self {
        let several = run.servers.len() > 1;
        let named = |server: &str, tool: &str| {
            if several {
                format!("{server} / {tool}")
            } else {
                tool.to_owned()
            }
        };
        let (mut valid, mut checked) = (0, 0);
        for tool in figures.tools().values() {
            valid += tool.valid_calls.count;
            checked += tool.valid_calls.n;
        }
        let errors = &figures.error_texts;
        Self {
            valid_calls: RateView::of(crate::stats::Rate::of(valid, checked)),
            arguments: Table::of(
                figures.argument_errors.worst_first(),
                figures.argument_errors.left_out(),
                |(key, error)| ArgumentRow {
                    tool: named(&key.server, &key.tool),
                    field: if key.field.is_empty() {
                        "(all)".to_owned()
                    } else {
                        key.field.clone()
                    },
                    problem: key.problem.clone(),
                    says: if key.by_schema { "its schema" } else { "the test case" },
                    calls: error.calls,
                    iterations: error.iterations,
                    sample: error.sample.clone(),
                    example: ExampleLink::of(run, error.example),
                },
            ),
            errors: Table::of(errors.worst_first(), errors.left_out(), |((server, tool, _), text)| {
                ErrorRow {
                    tool: named(server, tool),
                    text: text.sample.clone(),
                    not_recovered: text.not_recovered,
                    iterations: text.iterations,
                    calls: text.calls,
                    example: ExampleLink::of(run, text.example),
                }
            }),
            unneeded_rate: RateView::of(figures.unneeded.rate()),
            unneeded: Table::of(
                figures.unneeded.worst_first(),
                figures.unneeded.left_out(),
                |((server, tool), counted)| UnneededRow {
                    tool: named(server, tool),
                    calls: counted.calls,
                    iterations: counted.iterations,
                    example: ExampleLink::of(run, counted.example),
                },
            ),
            faults: Table::of(
                figures.server_faults.worst_first(),
                figures.server_faults.left_out(),
                |(_, fault)| FaultRow {
                    text: fault.sample.clone(),
                    attempts: fault.attempts,
                    followed: fault.followed,
                    example: ExampleLink::of(run, fault.example),
                },
            ),
        }
    }
}
