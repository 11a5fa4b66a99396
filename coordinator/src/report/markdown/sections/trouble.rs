//! Errors, calls that were not needed, and faults of the server.

use super::table::{MESSAGE, NAME, example};
use crate::markdown::{Section, code, head, row};
use crate::record::RunRecord;
use crate::report::Figures;
use crate::report::rate::RateView;

pub(in crate::report::markdown) fn errors(run: &RunRecord, figures: &Figures) -> Option<Section> {
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
        heading: "### Errors that agents met".to_owned(),
        intro: format!(
            "Not recovered: the iteration failed and no call of the tool that began after the failed one had ended succeeded.\n\n{}",
            head(
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

pub(in crate::report::markdown) fn unneeded(run: &RunRecord, figures: &Figures) -> Option<Section> {
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
        heading: "### Calls on prompts that needed none".to_owned(),
        intro: format!(
            "Iterations with a call: {sentence}.\n\n{}",
            if rows.is_empty() {
                String::new()
            } else {
                head(&["tool", "for example", "iterations", "calls"], 2)
            }
        ),
        rows,
        most_rows: 10,
        left_out: figures.unneeded.left_out(),
    })
}

pub(in crate::report::markdown) fn faults(run: &RunRecord, figures: &Figures) -> Option<Section> {
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
        heading: "### Server faults".to_owned(),
        intro: format!(
            "Attempts lost to the server: {}.\n\n{}",
            rate.sentence,
            head(&["what happened", "for example", "attempts"], 2)
        ),
        rows,
        most_rows: 10,
        left_out: figures.server_faults.left_out(),
    })
}
