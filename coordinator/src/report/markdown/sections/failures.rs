//! Why iterations failed.

use super::table::{MESSAGE, NAME, agent_name, example};
use crate::markdown::{Section, code, head, row};
use crate::outcome::FailureClass;
use crate::record::RunRecord;
use crate::report::{Figures, Instead, Tally};

pub(in crate::report::markdown) fn classes(run: &RunRecord, figures: &Figures) -> Option<Section> {
    if figures.total.tally.failed() == 0 {
        return None;
    }
    let of = |tally: &Tally, class: FailureClass| {
        tally
            .by_class()
            .find(|(known, _)| *known == class)
            .map_or(0, |(_, count)| count)
    };
    let rows = FailureClass::ALL
        .into_iter()
        .filter(|class| of(&figures.total.tally, *class) > 0)
        .map(|class| {
            let mut cells = vec![class.name().replace('_', " ")];
            cells.extend(
                figures
                    .agents
                    .iter()
                    .take(20)
                    .map(|group| of(&group.tally, class).to_string()),
            );
            row(&cells)
        })
        .chain([row(&std::iter::once("failed, of passed and failed".to_owned())
            .chain(figures.agents.iter().take(20).map(|group| {
                let rate = group.tally.pass_rate();
                format!("{} of {}", group.tally.failed(), rate.n)
            }))
            .collect::<Vec<_>>())])
        .collect();
    let names: Vec<String> = (0..run.agents.len().min(20))
        .map(|agent| agent_name(run, agent))
        .collect();
    let columns: Vec<&str> = std::iter::once("class")
        .chain(names.iter().map(String::as_str))
        .collect();
    Some(Section {
        heading: "### Why iterations failed".to_owned(),
        intro: head(&columns, 1),
        rows,
        most_rows: 20,
        left_out: 0,
    })
}

pub(in crate::report::markdown) fn confusion(run: &RunRecord, figures: &Figures) -> Option<Section> {
    let mut pairs: Vec<_> = figures.confusion.instead().collect();
    if pairs.is_empty() {
        return None;
    }
    pairs.sort_by_key(|(_, _, iterations, _)| std::cmp::Reverse(*iterations));
    let of = |expected: &str| {
        let found = figures.confusion.expected().find(|(tool, ..)| *tool == expected);
        found.map_or(0, |(_, rate, _)| rate.n)
    };
    let rows = pairs.into_iter().map(|(expected, instead, iterations, case)| {
        row(&[
            code(expected, NAME),
            match instead {
                Instead::Called(tool) => code(tool, NAME),
                Instead::NothingElse => "nothing else".to_owned(),
            },
            example(run, case),
            format!("{iterations} of {}", of(expected)),
        ])
    });
    Some(Section {
        heading: "### Expected, and called instead".to_owned(),
        intro: head(&["expected", "called", "for example", "iterations"], 3),
        rows: rows.collect(),
        most_rows: 10,
        left_out: figures.confusion.left_out(),
    })
}

pub(in crate::report::markdown) fn arguments(run: &RunRecord, figures: &Figures) -> Option<Section> {
    let errors = figures.argument_errors.worst_first();
    let rows: Vec<String> = errors
        .into_iter()
        .map(|(key, error)| {
            row(&[
                code(&key.tool, NAME),
                if key.field.is_empty() {
                    "all".to_owned()
                } else {
                    code(&key.field, NAME)
                },
                code(&key.problem, NAME),
                if key.by_schema { "its schema" } else { "the test case" }.to_owned(),
                code(&error.sample, MESSAGE),
                example(run, error.example),
                error.iterations.to_string(),
                error.calls.to_string(),
            ])
        })
        .collect();
    (!rows.is_empty()).then(|| Section {
        heading: "### Arguments that went wrong".to_owned(),
        intro: head(
            &[
                "tool",
                "field",
                "what is wrong",
                "says",
                "sample",
                "for example",
                "iterations",
                "calls",
            ],
            6,
        ),
        rows,
        most_rows: 10,
        left_out: figures.argument_errors.left_out(),
    })
}
