//! What the model that judges said of a recording, as far as it still holds.

use mcproctor_proto::turn::Usage;

use crate::judge::{Judgement, Opinion};
use crate::record::{AttemptRecord, ExpectationResult, Family, TestCaseRecord};

/// Whether the test case passes only when its tone is kept to.
pub(super) fn gates(case: &TestCaseRecord) -> bool {
    case.tone.as_ref().is_some_and(|tone| tone.gate)
}

/// What became of a tone that gates now; `None` when none does, or when it was not judged by the same rubric.
pub(super) fn tone_result(
    record: &AttemptRecord,
    judgement: &Judgement,
    was: &TestCaseRecord,
    case: &TestCaseRecord,
) -> Option<ExpectationResult> {
    if !gates(case) || !same_rubric(was, case) {
        return None;
    }
    let recorded = record.expectations.iter().find(|it| it.family == Family::Tone);
    let said = judgement.tone.as_ref().filter(|opinion| opinion.is_clear());
    recorded.cloned().or_else(|| said.map(Opinion::tone_result))
}

/// Leaves out what answered another question than the one that would be asked now. Prompts are the same, or the recording
/// would not be judged.
pub(super) fn carried(said: Judgement, was: &TestCaseRecord, case: &TestCaseRecord) -> Judgement {
    let same_replies = (&was.answers, was.answer_choice) == (&case.answers, case.answer_choice);
    Judgement {
        opinion: said.opinion.filter(|_| was.expected_outcome == case.expected_outcome),
        tone: said.tone.filter(|_| same_rubric(was, case)),
        choices: if same_replies { said.choices } else { Vec::new() },
        // That money was spent by the run that was held.
        for_nothing: Usage::default(),
    }
}

fn same_rubric(was: &TestCaseRecord, case: &TestCaseRecord) -> bool {
    let rubric = |case: &TestCaseRecord| case.tone.as_ref().map(|tone| tone.rubric.clone());
    rubric(was) == rubric(case)
}
