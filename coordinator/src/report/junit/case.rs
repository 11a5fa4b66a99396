//! One iteration as a test case.

use std::fmt::Write;

use crate::cut::cut;
use crate::judge::{Agreement, Judgement};
use crate::outcome::Outcome;
use crate::record::AttemptRecord;
use crate::report::write::Looked;
use crate::report::{EarlierAttempt, Iteration};

use super::name::Names;
use super::xml;

/// A message is cut here.
const MOST_MESSAGE_BYTES: usize = 1_000;

/// What a test case says in full is cut here; `results.json` has all of it.
const MOST_BODY_BYTES: usize = 8 * 1024;

/// Failed calls that are told at most.
const MOST_CALLS: usize = 20;

/// An iteration as XML.
pub(in crate::report) struct Part {
    /// Index of the cell.
    pub(super) cell: usize,
    /// Number of the iteration in its cell, from 1.
    pub(super) iteration: u32,
    /// Milliseconds that its result took; 0 without one.
    pub(super) duration_ms: u64,
    pub(super) xml: String,
}

/// Renders the iterations of a chunk.
pub(in crate::report) fn render(names: &Names, iterations: &Looked) -> Vec<Part> {
    iterations
        .iter()
        .map(|(iteration, _)| Part {
            cell: iteration.cell,
            iteration: iteration.number,
            duration_ms: iteration.result.as_ref().map_or(0, |result| result.duration_ms),
            xml: of(names, iteration),
        })
        .collect()
}

fn of(names: &Names, iteration: &Iteration) -> String {
    let duration = iteration.result.as_ref().map(|result| result.duration_ms);
    let inside = match &iteration.result {
        Some(result) => body(result, &iteration.earlier) + &dissent(result, iteration.judgement.as_ref()),
        None => skipped("waits for a new attempt"),
    };
    test_case(names, iteration.cell, iteration.number, duration, &inside)
}

/// An iteration that has no attempt.
pub(super) fn not_run(names: &Names, cell: usize, iteration: u32) -> String {
    test_case(names, cell, iteration, None, &skipped("not run"))
}

fn test_case(names: &Names, cell: usize, iteration: u32, duration_ms: Option<u64>, inside: &str) -> String {
    let mut xml = String::from("<testcase");
    if let Some(name) = names.cell(cell) {
        xml::attribute(&mut xml, "classname", &name.class);
        xml::attribute(&mut xml, "name", &name.of_iteration(iteration));
        xml::attribute(&mut xml, "file", &name.file);
    }
    xml::attribute(&mut xml, "time", &seconds(duration_ms.unwrap_or(0)));
    if inside.is_empty() {
        xml.push_str("/>\n");
    } else {
        xml.push('>');
        xml.push_str(inside);
        xml.push_str("</testcase>\n");
    }
    xml
}

fn body(result: &AttemptRecord, earlier: &[EarlierAttempt]) -> String {
    match result.outcome {
        Outcome::Passed => String::new(),
        Outcome::Failed(class) => problem("failure", class.name(), result, earlier),
        Outcome::Invalid(cause) => problem("error", cause.name(), result, earlier),
        Outcome::Aborted => skipped(&format!("aborted: {}", result.reason)),
    }
}

/// What the judge says where it disagrees; empty anywhere else.
fn dissent(result: &AttemptRecord, judgement: Option<&Judgement>) -> String {
    let Some(opinion) = judgement.and_then(|judgement| judgement.opinion.as_ref()) else {
        return String::new();
    };
    if Agreement::with(result, opinion.verdict) != Agreement::Disagrees {
        return String::new();
    }
    let says = format!(
        "the judge disagrees, {}: {}",
        opinion.verdict.name(),
        opinion.reasoning.split_whitespace().collect::<Vec<_>>().join(" ")
    );
    let mut xml = String::from("<system-out>");
    xml::text(&mut xml, &cut(&says, MOST_MESSAGE_BYTES));
    xml.push_str("</system-out>");
    xml
}

fn skipped(message: &str) -> String {
    let mut xml = String::from("<skipped");
    xml::attribute(&mut xml, "message", &cut(message, MOST_MESSAGE_BYTES));
    xml.push_str("/>");
    xml
}

fn problem(element: &str, kind: &str, result: &AttemptRecord, earlier: &[EarlierAttempt]) -> String {
    let mut xml = format!("<{element}");
    xml::attribute(&mut xml, "type", kind);
    let message = format!("{}: {}", kind.replace('_', " "), result.reason);
    xml::attribute(&mut xml, "message", &cut(&message, MOST_MESSAGE_BYTES));
    xml.push('>');
    xml::text(&mut xml, &cut(&story(result, earlier), MOST_BODY_BYTES));
    xml.push_str("</");
    xml.push_str(element);
    xml.push('>');
    xml
}

/// What was not met and why, which calls failed, what earlier attempts came to.
fn story(result: &AttemptRecord, earlier: &[EarlierAttempt]) -> String {
    let mut story = format!("{}\n", result.reason);
    for unmet in result.expectations.iter().filter(|it| !it.met) {
        let _ = writeln!(story, "{}", unmet.unmet_in_words());
        for difference in &unmet.differences {
            let at = if difference.at.is_empty() {
                "arguments"
            } else {
                &difference.at
            };
            let _ = writeln!(
                story,
                "    {at}: expected {}, found {}",
                difference.expected, difference.found
            );
        }
    }
    let failed = result.calls.iter().filter(|call| !call.succeeded());
    for call in failed.take(MOST_CALLS) {
        let why = call.error.as_deref().unwrap_or_default();
        let _ = writeln!(
            story,
            "failed call: {} – {} {why}",
            call.tool,
            call.state.name().replace('_', " ")
        );
    }
    for turn in &result.turns {
        if let Some(detail) = &turn.detail {
            let _ = writeln!(story, "turn {}: {detail}", turn.index + 1);
        }
    }
    for attempt in earlier {
        let _ = writeln!(
            story,
            "attempt {}: {} – {}",
            attempt.attempt, attempt.outcome, attempt.reason
        );
    }
    story
}

/// Milliseconds as seconds.
pub(super) fn seconds(ms: u64) -> String {
    format!("{}.{:03}", ms / 1000, ms % 1000)
}
