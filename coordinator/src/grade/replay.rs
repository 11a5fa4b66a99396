//! Whether a conversation would have gone the same way.

use mcproctor_proto::turn::TurnEnding;

use crate::conversation::Conversation;
use crate::record::{AnswerChoice, TestCaseRecord};
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

/// What would follow a turn now, and what followed it.
enum Step {
    /// The recorded reply may follow.
    Follows,
    /// Nothing was sent, and nothing would be.
    Ends,
    /// A reply was sent, and none would be.
    Stops,
    /// Another reply would be sent.
    Another,
    /// Nothing was sent, and a reply would be.
    GoesOn,
}

/// Follows a conversation turn by turn. `was` is the test case that it was held with.
pub(super) fn course(conversation: &Conversation, was: &TestCaseRecord, case: &TestCaseRecord) -> Course {
    let mut left: Vec<&str> = case.answers.iter().map(String::as_str).collect();
    for (index, turn) in conversation.turns.iter().enumerate() {
        let so_far = conversation.first_turns(index + 1);
        let next = conversation.turns.get(index + 1).map(|next| next.prompt.as_str());
        let able = turn.ending == TurnEnding::Completed && (next.is_some() || conversation.model_answers());
        let goes_on = able && !left.is_empty() && worth_talking_on(case, &so_far.observed());
        let step = match (next, case.answer_choice) {
            (None, _) if !goes_on => Step::Ends,
            (Some(_), _) if !goes_on => Step::Stops,
            (None, AnswerChoice::Judge) if none_was_picked(was, &so_far, &left) => Step::Ends,
            (None, _) => Step::GoesOn,
            (Some(sent), AnswerChoice::InOrder) if left.first() != Some(&sent) => Step::Another,
            (Some(sent), _) => match left.iter().position(|reply| *reply == sent) {
                Some(place) => {
                    left.remove(place);
                    Step::Follows
                }
                None => Step::Another,
            },
        };
        match step {
            Step::Follows | Step::Ends => {}
            Step::Stops => return Course::Shorter(index + 1),
            Step::Another => {
                return Course::Other(format!("after turn {} it went on with another answer", index + 1));
            }
            Step::GoesOn => {
                return Course::Other(
                    "the conversation ended because nothing more was to be gained then, and now an answer would follow"
                        .to_owned(),
                );
            }
        }
    }
    Course::Same
}

/// Whether a conversation ended because the judge picked none of the replies: it was asked, and every reply that is left now
/// was left then.
fn none_was_picked(was: &TestCaseRecord, whole: &Conversation, left: &[&str]) -> bool {
    was.answer_choice == AnswerChoice::Judge
        && worth_talking_on(was, &whole.observed())
        && left.iter().all(|reply| was.answers.iter().any(|then| then == reply))
}
