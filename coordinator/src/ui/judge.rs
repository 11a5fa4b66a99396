//! What the judge said, in words for a terminal.

use mcproctor_proto::turn::Usage;

use super::model::{Plan, View};
use super::text::clean;
use crate::event::Event;
use crate::judge::{Agreement, JudgeVerdict};

/// So many failures of the judge get a line of their own; the rest is counted.
const MOST_ERRORS_LISTED: u64 = 3;
/// Reasons are cut here in a line, in characters.
const MOST_REASONS: usize = 300;

/// `⚖ 12/30 judged, 2 disagree` while the run goes on; `None` in a run without a judge.
pub(super) fn progress(view: &View) -> Option<String> {
    view.plan()?.judge.as_ref()?;
    let tally = view.judged();
    let mut parts = vec![format!("⚖ {}/{} judged", tally.judged(), view.totals().decided())];
    if tally.disagrees > 0 {
        parts.push(format!("{} disagree", tally.disagrees));
    }
    parts.extend(tally.further_words());
    Some(parts.join(", "))
}

/// The same when the run is over, in parts.
pub(super) fn summary(view: &View) -> Vec<String> {
    let Some(model) = view.plan().and_then(|plan| plan.judge.as_ref()) else {
        return Vec::new();
    };
    let tally = view.judged();
    let mut parts = tally.words();
    let missing = view.totals().decided().saturating_sub(tally.answered());
    if missing > 0 {
        parts.push(format!("{missing} not judged"));
    }
    parts.extend(usage(&tally.usage));
    if let Some(first) = parts.first_mut() {
        first.insert_str(0, &format!("Judge {model}: "));
    }
    parts
}

/// Columns kept free behind a test case for ` ⚖ ×12`.
pub(super) fn room(plan: &Plan) -> usize {
    if plan.judge.is_some() { 6 } else { 0 }
}

/// `⚖ judge disagrees ×2` behind a test case, as long as there is room for it.
pub(super) fn disagreements(count: u64, room: usize) -> Option<String> {
    let forms = [format!(" ⚖ judge disagrees ×{count}"), format!(" ⚖ ×{count}")];
    (count > 0).then_some(())?;
    forms.into_iter().find(|form| form.chars().count() <= room)
}

/// The line that a verdict is worth: one that disagrees, and the first few failures.
pub(super) fn line(view: &View, event: &Event, name: &str) -> Option<String> {
    let Event::Judged {
        verdict,
        agreement,
        reasoning,
        ..
    } = event
    else {
        return None;
    };
    let reasons: String = clean(reasoning).chars().take(MOST_REASONS).collect();
    match (verdict, agreement) {
        (JudgeVerdict::Error, _) if view.judged().errors <= MOST_ERRORS_LISTED => {
            Some(format!("⚖ judge failed on {name}: {reasons}"))
        }
        (verdict, Agreement::Disagrees) => Some(format!("⚖ judge disagrees, {}: {name}: {reasons}", verdict.name())),
        _ => None,
    }
}

/// `12,345 tokens`, `$0.0123`: what the endpoint reports.
fn usage(usage: &Usage) -> Vec<String> {
    let tokens = match (usage.input_tokens, usage.output_tokens) {
        (None, None) => None,
        (input, output) => Some(input.unwrap_or(0).saturating_add(output.unwrap_or(0))),
    };
    let mut parts: Vec<String> = tokens
        .map(|tokens| format!("{} tokens", grouped(tokens)))
        .into_iter()
        .collect();
    parts.extend(usage.cost_usd.map(|cost| format!("${cost:.4}")));
    parts
}

/// `12,345`.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_grouped() {
        assert_eq!(
            [0, 999, 1_000, 1_234_567].map(grouped),
            ["0", "999", "1,000", "1,234,567"]
        );
    }

    #[test]
    fn a_disagreement_is_marked_as_far_as_there_is_room() {
        assert_eq!(disagreements(2, 40).as_deref(), Some(" ⚖ judge disagrees ×2"));
        assert_eq!(disagreements(2, 8).as_deref(), Some(" ⚖ ×2"));
        assert_eq!(disagreements(2, 3), None);
        assert_eq!(disagreements(0, 40), None);
    }
}
