//! What a server's author wants to know: which tool was taken for which, which arguments went wrong, which errors stopped
//! agents, which calls were not needed, what the server did.

use serde::Serialize;

use crate::report::{Example, Figures, Instead};
use crate::stats::Rate;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct FindingsView<'a> {
    confusion: Table<ConfusionView<'a>>,
    argument_errors: Table<ArgumentErrorView<'a>>,
    error_texts: Table<ErrorTextView<'a>>,
    unneeded_calls: Table<UnneededView<'a>>,
    /// Iterations with a call, out of those whose prompt needed none.
    unneeded: Rate,
    server_fault_texts: Table<FaultView<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Table<T> {
    rows: Vec<T>,
    /// What is in no row, because there were too many different ones.
    left_out: u64,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ConfusionView<'a> {
    expected: &'a str,
    called: Rate,
    instead: Vec<InsteadView<'a>>,
}

#[derive(Serialize)]
struct InsteadView<'a> {
    /// `null` when nothing else was called.
    tool: Option<&'a str>,
    iterations: u64,
    example: Example,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ArgumentErrorView<'a> {
    server: &'a str,
    tool: &'a str,
    field: &'a str,
    problem: &'a str,
    by_schema: bool,
    calls: u64,
    iterations: u64,
    sample: &'a str,
    example: Example,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ErrorTextView<'a> {
    server: &'a str,
    tool: &'a str,
    text: &'a str,
    calls: u64,
    iterations: u64,
    not_recovered: u64,
    sample: &'a str,
    example: Example,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct UnneededView<'a> {
    server: &'a str,
    tool: &'a str,
    calls: u64,
    iterations: u64,
    example: Example,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct FaultView<'a> {
    text: &'a str,
    attempts: u64,
    followed: u64,
    sample: &'a str,
    example: Example,
}

impl<'a> FindingsView<'a> {
    pub(super) fn of(figures: &'a Figures) -> Self {
        Self {
            confusion: confusion(figures),
            argument_errors: Table {
                rows: figures
                    .argument_errors
                    .worst_first()
                    .into_iter()
                    .map(|(key, error)| ArgumentErrorView {
                        server: &key.server,
                        tool: &key.tool,
                        field: &key.field,
                        problem: &key.problem,
                        by_schema: key.by_schema,
                        calls: error.calls,
                        iterations: error.iterations,
                        sample: &error.sample,
                        example: error.example,
                    })
                    .collect(),
                left_out: figures.argument_errors.left_out(),
            },
            error_texts: Table {
                rows: figures
                    .error_texts
                    .worst_first()
                    .into_iter()
                    .map(|((server, tool, text), counted)| ErrorTextView {
                        server,
                        tool,
                        text,
                        calls: counted.calls,
                        iterations: counted.iterations,
                        not_recovered: counted.not_recovered,
                        sample: &counted.sample,
                        example: counted.example,
                    })
                    .collect(),
                left_out: figures.error_texts.left_out(),
            },
            unneeded_calls: Table {
                rows: figures
                    .unneeded
                    .worst_first()
                    .into_iter()
                    .map(|((server, tool), counted)| UnneededView {
                        server,
                        tool,
                        calls: counted.calls,
                        iterations: counted.iterations,
                        example: counted.example,
                    })
                    .collect(),
                left_out: figures.unneeded.left_out(),
            },
            unneeded: figures.unneeded.rate(),
            server_fault_texts: Table {
                rows: figures
                    .server_faults
                    .worst_first()
                    .into_iter()
                    .map(|(text, fault)| FaultView {
                        text,
                        attempts: fault.attempts,
                        followed: fault.followed,
                        sample: &fault.sample,
                        example: fault.example,
                    })
                    .collect(),
                left_out: figures.server_faults.left_out(),
            },
        }
    }
}

fn confusion(figures: &Figures) -> Table<ConfusionView<'_>> {
    let mut rows: Vec<ConfusionView<'_>> = figures
        .confusion
        .expected()
        .map(|(expected, called, _)| ConfusionView {
            expected,
            called,
            instead: Vec::new(),
        })
        .collect();
    for (expected, instead, iterations, example) in figures.confusion.instead() {
        // Both come in the order of the expected tool's name.
        if let Ok(at) = rows.binary_search_by(|row| row.expected.cmp(expected)) {
            rows[at].instead.push(InsteadView {
                tool: match instead {
                    Instead::Called(tool) => Some(tool),
                    Instead::NothingElse => None,
                },
                iterations,
                example,
            });
        }
    }
    Table {
        rows,
        left_out: figures.confusion.left_out(),
    }
}
