//! One attempt.

use mcproctor_proto::turn::TurnEnding;

use super::replay::{Course, course};
use crate::conversation::Conversation;
use crate::outcome::{Facts, InvalidCause, Outcome, decide};
use crate::record::{AttemptRecord, TestCaseRecord};
use crate::validation::{Observed, check, compares_arguments, with_whole_arguments};

/// An attempt, judged again.
#[derive(Clone, Debug)]
pub struct Graded {
    /// The attempt as it is judged now; its cell is still that of the old run.
    pub record: AttemptRecord,
    /// Whether it cannot be judged, because the conversation would have gone another way.
    pub not_comparable: bool,
}

/// Whether the calls in full are needed to judge the attempt.
pub fn wants_calls(record: &AttemptRecord, case: &TestCaseRecord) -> bool {
    compares_arguments(case, &record.calls)
}

/// Judges an attempt against the test case as it is now.
///
/// What was invalid or aborted stays so, and so does a failure that no expectation decided: an error of the agent, time
/// that was up. `calls_in_full` is the evidence of its calls, where [`wants_calls`] asks for it.
pub fn grade_attempt(then: AttemptRecord, case: &TestCaseRecord, calls_in_full: Option<&[u8]>) -> Graded {
    let mut conversation = Conversation::of_record(&then);
    let mut record = then;
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
        return Graded {
            record,
            not_comparable: false,
        };
    }
    match course(&conversation, case) {
        Course::Same => {}
        Course::Shorter(turns) => {
            conversation = conversation.first_turns(turns);
            record.expectations = check(case, &conversation.observed());
        }
        Course::Other(why) => {
            record.outcome = Outcome::Invalid(InvalidCause::Machinery);
            record.reason = format!("not comparable: {why}");
            return Graded {
                record,
                not_comparable: true,
            };
        }
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
        not_comparable: false,
    }
}
