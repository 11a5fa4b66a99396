//! The document, the most important first.

use crate::markdown::{Document, code};
use crate::record::{RunRecord, RunState};
use crate::report::gate::Gate;
use crate::report::rate::RateView;
use crate::report::time::readable;
use crate::report::{Figures, RunData};
use crate::words::counted;

use super::sections;

/// Notices at most.
const MOST_NOTICES: usize = 10;

/// Thresholds listed as not met at most.
const MOST_MISSED: usize = 20;

/// The summary of a run, under 65,000 characters.
pub(in crate::report) fn summary(data: &dyn RunData, figures: &Figures) -> String {
    let run = data.run();
    let mut document = Document::new(&head(data, figures), "in the full report");
    for section in [
        sections::rates(run, figures),
        sections::classes(run, figures),
        sections::tools(figures),
        sections::confusion(run, figures),
        sections::arguments(run, figures),
        sections::errors(run, figures),
        sections::unneeded(run, figures),
        sections::faults(run, figures),
        sections::cells(run, figures),
    ]
    .into_iter()
    .flatten()
    {
        document.add(&section);
    }
    document.finish()
}

fn head(data: &dyn RunData, figures: &Figures) -> String {
    let run = data.run();
    let total = &figures.total.tally;
    let rate = RateView::of(total.pass_rate());
    let mut head = match (&rate.rate, &rate.range) {
        (Some(share), Some(range)) => format!("## {} passed: {share}, 95% range {range}\n\n", rate.counts),
        (None, Some(range)) => format!("## {} passed, 95% range {range}, too few for a rate\n\n", rate.counts),
        _ => "## No iteration has passed or failed\n\n".to_owned(),
    };
    let shape = [
        counted(run.agents.len() as u64, "agent"),
        counted(run.test_cases.len() as u64, "test case"),
        counted(u64::from(run.iterations), "iteration"),
    ]
    .join(" × ");
    let state = match data.state() {
        RunState::Running => "in progress, ranges are not for deciding when to stop",
        RunState::Completed => "completed",
        RunState::Aborted => "stopped early",
    };
    head += &format!(
        "{} · {shape} · {state} · {}\n\n",
        servers(run),
        readable(run.started_at_unix_ms)
    );
    head += &format!(
        "{} passed, {} failed, {} invalid (in no rate), {} without result. Pooled over all agents and test cases (Wilson): how \
         reliable these prompts are.\n",
        total.passed,
        total.failed(),
        total.invalid(),
        run.total_iterations().saturating_sub(total.total()) + total.aborted,
    );
    if let Some(why) = &run.stopped {
        head += &format!("\n**Stopped before its end:** {}\n", code(why, 600));
    }
    let attempts = figures.total.attempts.server_fault_rate();
    if attempts.range.is_some() {
        head += &format!("\nAttempts lost to the server: {}.\n", RateView::of(attempts).sentence);
    }
    head += &judge(run, figures);
    if let Some(gate) = Gate::of(run, data.state(), figures) {
        head += &format!("\n**Thresholds {}** ({})\n\n", gate.verdict(), gate.asked);
        let missed = gate.missed.unwrap_or_default();
        for shortfall in missed.iter().take(MOST_MISSED) {
            head += &format!("- {}\n", code(&shortfall.to_string(), 300));
        }
        if missed.len() > MOST_MISSED {
            head += &format!("- {} more\n", missed.len() - MOST_MISSED);
        }
    }
    for notice in run.notices.iter().take(MOST_NOTICES) {
        head += &format!("\n> {}\n", code(notice, 300));
    }
    head
}

/// What the judge said, and the first iterations on which it disagrees; empty for a run without one.
fn judge(run: &RunRecord, figures: &Figures) -> String {
    let (Some(judge), said) = (&run.judge, &figures.judge) else {
        return String::new();
    };
    let mut text = format!("\nJudge {}: {}.\n", code(&judge.model, 80), said.words().join(", "));
    if said.first_disagreements.is_empty() {
        return text;
    }
    text.push('\n');
    for (example, outcome, verdict) in &said.first_disagreements {
        let measured = outcome.to_string();
        text += &format!(
            "- {}: {measured}, the judge says {}\n",
            sections::example(run, *example),
            verdict.name()
        );
    }
    let more = said
        .total
        .disagrees
        .saturating_sub(said.first_disagreements.len() as u64);
    if more > 0 {
        text += &format!("- {more} more\n");
    }
    text
}

fn servers(run: &RunRecord) -> String {
    let names: Vec<String> = run
        .servers
        .iter()
        .take(10)
        .map(|server| code(&server.name, 80))
        .collect();
    names.join(", ")
}
