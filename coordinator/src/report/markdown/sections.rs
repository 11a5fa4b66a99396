//! The parts of the summary; each is absent where it has nothing to say.

use crate::outcome::FailureClass;
use crate::record::RunRecord;
use crate::report::forest::{Forest, What};
use crate::report::rate::{RateView, invalid_by_cause};
use crate::report::suite::with_invalid_words;
use crate::report::{Example, Figures, Instead, Share, Tally};
use crate::stats::Rate;
use crate::words::{count, duration, median_and_tail};

use super::builder::Section;
use super::escape::code;

/// Names are cut here.
const NAME: usize = 80;

/// Messages are cut here.
const MESSAGE: usize = 200;

/// The head of a table: its columns, those after the first `text` ones with numbers.
fn table(columns: &[&str], text: usize) -> String {
    let rule: Vec<&str> = (0..columns.len())
        .map(|at| if at < text { "---" } else { "--:" })
        .collect();
    format!("| {} |\n| {} |\n", columns.join(" | "), rule.join(" | "))
}

fn row(cells: &[String]) -> String {
    format!("| {} |", cells.join(" | "))
}

/// Rate and range; only the range where N is too small for a rate.
fn rate_cells(rate: Rate) -> [String; 3] {
    let view = RateView::of(rate);
    let or_none = |words: Option<String>| words.unwrap_or_else(|| "–".to_owned());
    [view.counts, or_none(view.rate), or_none(view.range)]
}

fn invalid(tally: &Tally) -> String {
    invalid_by_cause(tally).unwrap_or_else(|| "none".to_owned())
}

fn agent_name(run: &RunRecord, agent: usize) -> String {
    run.agents
        .get(agent)
        .map(|agent| code(&agent.name, NAME))
        .unwrap_or_default()
}

pub(super) fn example(run: &RunRecord, example: Example) -> String {
    let agent = run.agent_of(example.cell).map_or("", |agent| agent.name.as_str());
    let case = run.test_case_of(example.cell).map_or("", |case| case.name.as_str());
    code(&format!("{agent} × {case}, iteration {}", example.iteration), 2 * NAME)
}

pub(super) fn rates(run: &RunRecord, figures: &Figures) -> Option<Section> {
    let forest = Forest::of(run, figures);
    // Where groups are single cells, the last section has all of them, with more about each.
    let rows = forest.rows.into_iter().filter(|line| !line.is_of_a_cell);
    let rows = rows.map(|line| {
        let about = match &line.what {
            What::These => "these prompts".to_owned(),
            What::Pooled => "these prompts, pooled".to_owned(),
            What::Like => "prompts like these".to_owned(),
            What::Distinct => "test cases that passed every time".to_owned(),
            What::Group(name) => code(name, NAME),
        };
        let [counts, rate, range] = rate_cells(line.estimate.rate);
        let mut in_no_rate = invalid(&line.tally);
        if let Some(words) = with_invalid_words(&line.tally).filter(|_| line.what == What::These) {
            in_no_rate += &format!("; {words}");
        }
        row(&[
            agent_name(run, line.agent),
            about,
            line.estimate.method,
            in_no_rate,
            counts,
            rate,
            range,
        ])
    });
    Some(Section {
        title: "How reliable".to_owned(),
        intro: table(
            &["agent", "about", "method", "in no rate", "passed", "rate", "95% range"],
            4,
        ),
        rows: rows.collect(),
        most_rows: 30,
        left_out: if forest.of_cells { 0 } else { forest.left_out as u64 },
    })
}

pub(super) fn classes(run: &RunRecord, figures: &Figures) -> Option<Section> {
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
        title: "Why iterations failed".to_owned(),
        intro: table(&columns, 1),
        rows,
        most_rows: 20,
        left_out: 0,
    })
}

pub(super) fn tools(_: &RunRecord, figures: &Figures) -> Option<Section> {
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
        title: "Tools".to_owned(),
        intro: format!(
            "Iterations that passed or failed and expect the tool, step by step; – is not observed. Tokens are an estimate (a \
             quarter of the bytes).\n\n{}",
            table(
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

pub(super) fn confusion(run: &RunRecord, figures: &Figures) -> Option<Section> {
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
        title: "Expected, and called instead".to_owned(),
        intro: table(&["expected", "called", "for example", "iterations"], 3),
        rows: rows.collect(),
        most_rows: 10,
        left_out: figures.confusion.left_out(),
    })
}

pub(super) fn arguments(run: &RunRecord, figures: &Figures) -> Option<Section> {
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
        title: "Arguments that went wrong".to_owned(),
        intro: table(
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

pub(super) fn errors(run: &RunRecord, figures: &Figures) -> Option<Section> {
    let texts = figures.error_texts.worst_first();
    let rows: Vec<String> = texts
        .into_iter()
        .map(|((_, tool, _), text)| {
            row(&[
                code(tool, NAME),
                code(&text.sample, MESSAGE),
                example(run, text.example),
                text.not_recovered.to_string(),
                text.iterations.to_string(),
            ])
        })
        .collect();
    (!rows.is_empty()).then(|| Section {
        title: "Errors that agents met".to_owned(),
        intro: format!(
            "Not recovered: the iteration failed and no call of the tool that began after the failed one had ended succeeded.\n\n{}",
            table(
                &[
                    "tool",
                    "the agent was told",
                    "for example",
                    "not recovered",
                    "iterations"
                ],
                3
            )
        ),
        rows,
        most_rows: 10,
        left_out: figures.error_texts.left_out(),
    })
}

pub(super) fn unneeded(run: &RunRecord, figures: &Figures) -> Option<Section> {
    let rate = figures.unneeded.rate();
    rate.range?;
    let rows: Vec<String> = figures
        .unneeded
        .worst_first()
        .into_iter()
        .map(|((_, tool), counted)| {
            row(&[
                code(tool, NAME),
                example(run, counted.example),
                counted.iterations.to_string(),
                counted.calls.to_string(),
            ])
        })
        .collect();
    let sentence = RateView::of(rate).sentence;
    Some(Section {
        title: "Calls on prompts that needed none".to_owned(),
        intro: format!(
            "Iterations with a call: {sentence}.\n\n{}",
            if rows.is_empty() {
                String::new()
            } else {
                table(&["tool", "for example", "iterations", "calls"], 2)
            }
        ),
        rows,
        most_rows: 10,
        left_out: figures.unneeded.left_out(),
    })
}

pub(super) fn faults(run: &RunRecord, figures: &Figures) -> Option<Section> {
    let faults = figures.server_faults.worst_first();
    let rows: Vec<String> = faults
        .into_iter()
        .map(|(_, fault)| {
            row(&[
                code(&fault.sample, MESSAGE),
                example(run, fault.example),
                fault.attempts.to_string(),
            ])
        })
        .collect();
    let rate = RateView::of(figures.total.attempts.server_fault_rate());
    (!rows.is_empty()).then(|| Section {
        title: "Server faults".to_owned(),
        intro: format!(
            "Attempts lost to the server: {}.\n\n{}",
            rate.sentence,
            table(&["what happened", "for example", "attempts"], 2)
        ),
        rows,
        most_rows: 10,
        left_out: figures.server_faults.left_out(),
    })
}

pub(super) fn cells(run: &RunRecord, figures: &Figures) -> Option<Section> {
    let mut cells: Vec<_> = figures.cells.iter().enumerate().collect();
    if cells.is_empty() {
        return None;
    }
    let failed = |tally: &Tally| (tally.failed() * 1_000).checked_div(tally.pass_rate().n);
    cells.sort_by_key(|(_, cell)| std::cmp::Reverse(failed(&cell.group.tally)));
    let rows = cells.into_iter().map(|(index, cell)| {
        let tally = &cell.group.tally;
        let [counts, rate, range] = rate_cells(tally.pass_rate());
        row(&[
            run.test_case_of(index)
                .map(|case| code(&case.name, NAME))
                .unwrap_or_default(),
            run.agent_of(index)
                .map(|agent| code(&agent.name, NAME))
                .unwrap_or_default(),
            invalid(tally),
            counts,
            rate,
            range,
        ])
    });
    Some(Section {
        title: "Test cases and agents, the worst first".to_owned(),
        intro: table(&["test case", "agent", "in no rate", "passed", "rate", "95% range"], 3),
        rows: rows.collect(),
        most_rows: 60,
        left_out: 0,
    })
}
