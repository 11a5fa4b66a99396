//! Whether a conversation would have gone the same way.

use mcproctor_proto::turn::TurnEnding;

use crate::conversation::Conversation;
use crate::record::TestCaseRecord;
use crate::validation::worth_talking_on;

/// How a recorded conversation stands to the test case of now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Course {
    /// It would have gone the same way.
    Same,
    /// It would have ended after that many turns, because nothing more could be gained.
    Shorter(usize),
    /// It would have gone on differently, so that nobody knows how it would have ended.
    Other(String),
}

/// Follows a conversation turn by turn.
pub(super) fn course(conversation: &Conversation, case: &TestCaseRecord) -> Course {
    for (index, turn) in conversation.turns.iter().enumerate() {
        let so_far = conversation.first_turns(index + 1);
        let next = conversation.turns.get(index + 1);
        let able = turn.ending == TurnEnding::Completed && (next.is_some() || conversation.traffic.refusal.is_none());
        let answer = case
            .answers
            .get(index)
            .filter(|_| able && worth_talking_on(case, &so_far.observed()));
        match (answer, next) {
            (None, None) => {}
            (None, Some(_)) => return Course::Shorter(index + 1),
            (Some(answer), Some(next)) if *answer == next.prompt => {}
            (Some(_), Some(_)) => {
                return Course::Other(format!("after turn {} it went on with another answer", index + 1));
            }
            (Some(_), None) => {
                return Course::Other(
                    "the conversation ended because nothing more was to be gained then, and now an answer would follow"
                        .to_owned(),
                );
            }
        }
    }
    Course::Same
}
