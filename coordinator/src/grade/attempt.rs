//! One attempt.

use mcproctor_proto::turn::TurnEnding;

use super::judged::{carried, gates, tone_result};
use super::replay::{Course, course};
use crate::conversation::Conversation;
use crate::judge::Judgement;
use crate::outcome::{Facts, InvalidCause, Outcome, decide};
use crate::record::{AttemptRecord, TestCaseRecord};
use crate::validation::{Observed, check, with_whole_arguments};

/// An attempt, judged again.
#[derive(Clone, Debug)]
pub struct Graded {
    /// The attempt as it is judged now; its cell is still that of the old run.
    pub record: AttemptRecord,
    /// What the model that judges said of it, as far as that still holds.
    pub judgement: Judgement,
    /// Whether it cannot be judged, because the conversation would have gone another way.
    pub not_comparable: bool,
}

/// An attempt as it is stored.
#[derive(Clone, Debug)]
pub struct Recorded<'a> {
    /// The attempt.
    pub record: AttemptRecord,
    /// What the model that judges said of it.
    pub judgement: Judgement,
    /// The test case that it was held with.
    pub case: &'a TestCaseRecord,
}

/// Judges an attempt against the test case as it is now.
///
/// What was invalid or aborted stays so, and so does a failure that no expectation decided: an error of the agent, time
/// that was up. `calls_in_full` is the evidence of its calls, where
/// [`compares_arguments`](crate::validation::compares_arguments) asks for it. A tone that gates is known only where it was judged
/// by the same rubric, of the same conversation.
pub fn grade_attempt(then: Recorded<'_>, case: &TestCaseRecord, calls_in_full: Option<&[u8]>) -> Graded {
    let was = then.case;
    let mut conversation = Conversation::of_record(&then.record);
    let mut record = then.record;
    let mut tone = tone_result(&record, &then.judgement, was, case);
    let mut judgement = carried(then.judgement, was, case);
    if let Some(evidence) = calls_in_full {
        conversation.calls = with_whole_arguments(&conversation.calls, evidence);
    }
    let observed: Observed<'_> = conversation.observed();
    record.expectations = check(case, &observed);
    let judged_by_expectations = matches!(record.outcome, Outcome::Passed | Outcome::Failed(_))
        && record
            .turns
            .last()
            .is_some_and(|turn| turn.ending == TurnEnding::Completed);
    if !judged_by_expectations {
        record.expectations.extend(tone);
        return Graded {
            record,
            judgement,
            not_comparable: false,
        };
    }
    match course(&conversation, was, case) {
        Course::Same => {}
        Course::Shorter(_)
            if case.expectations.max_duration_seconds.is_some() && conversation.traffic.waiting_ms > 0 =>
        {
            return not_comparable(
                record,
                judgement,
                "nobody knows in which turn the agent waited for the model",
            );
        }
        Course::Shorter(turns) => {
            conversation = conversation.first_turns(turns);
            record.expectations = check(case, &conversation.observed());
            // All of the conversation was judged, and not its beginning.
            tone = None;
            (judgement.opinion, judgement.tone) = (None, None);
        }
        Course::Other(why) => return not_comparable(record, judgement, &why),
    }
    match tone {
        Some(tone) => record.expectations.push(tone),
        // What else is unmet settles it, whatever the tone.
        None if gates(case) && record.expectations.iter().all(|it| it.met) => {
            return not_comparable(record, judgement, "the tone was not judged");
        }
        None => {}
    }
    let verdict = decide(&Facts {
        interrupted: false,
        machinery_fault: None,
        conversation: &conversation,
        expectations: &record.expectations,
    });
    record.outcome = verdict.outcome;
    record.reason = verdict.reason;
    Graded {
        record,
        judgement,
        not_comparable: false,
    }
}

fn not_comparable(mut record: AttemptRecord, judgement: Judgement, why: &str) -> Graded {
    record.outcome = Outcome::Invalid(InvalidCause::Machinery);
    record.reason = format!("not comparable: {why}");
    Graded {
        record,
        judgement,
        not_comparable: true,
    }
}
