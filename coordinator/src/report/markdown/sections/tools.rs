//! Each tool, step by step.

use super::table::NAME;
use crate::markdown::{Section, code, head, row};
use crate::report::{Figures, Share};
use crate::words::{count, duration, median_and_tail};

pub(in crate::report::markdown) fn tools(figures: &Figures) -> Option<Section> {
    let mut tools: Vec<_> = figures
        .tools()
        .iter()
        .filter(|(_, tool)| tool.calls() > 0 || tool.funnel.tally.total() > 0)
        .collect();
    if tools.is_empty() {
        return None;
    }
    tools.sort_by_key(|(_, tool)| std::cmp::Reverse((tool.funnel.expected - tool.funnel.answered, tool.calls())));
    let step = |share: Share| match share.n {
        0 => "–".to_owned(),
        n => format!("{}/{n}", share.count),
    };
    let rows = tools.into_iter().map(|((_, name), tool)| {
        let funnel = &tool.funnel;
        let of_expected = |count| {
            step(Share {
                count,
                n: funnel.expected,
            })
        };
        row(&[
            code(name, NAME),
            step(funnel.offered),
            step(funnel.reached),
            of_expected(funnel.called),
            step(funnel.valid),
            of_expected(funnel.succeeded),
            of_expected(funnel.answered),
            format!("{} of {}", tool.succeeded(), tool.calls()),
            median_and_tail(tool.duration_ms(), duration).unwrap_or_default(),
            tool.definition_tokens().map_or_else(|| "–".to_owned(), count),
            tool.result_tokens().median.map_or_else(|| "–".to_owned(), count),
        ])
    });
    Some(Section {
        heading: "### Tools".to_owned(),
        intro: format!(
            "Iterations that passed or failed and expect the tool, step by step; – is not observed. Tokens are an estimate (a \
             quarter of the bytes).\n\n{}",
            head(
                &[
                    "tool",
                    "offered",
                    "reached",
                    "called",
                    "valid",
                    "succeeded",
                    "answered",
                    "calls succeeded",
                    "duration",
                    "definition",
                    "result, median"
                ],
                1
            )
        ),
        rows: rows.collect(),
        most_rows: 15,
        left_out: 0,
    })
}
