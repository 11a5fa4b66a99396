//! Questions to the judge that are under way. Each comes to an end that the schedule hears of, also when its own code fails.

use std::collections::HashMap;

use mcproctor_proto::id::Lease;
use mcproctor_proto::turn::Usage;
use tokio::task::{Id, JoinError, JoinSet};

use crate::judge::{JudgeVerdict, NotChosen, Opinion, ReplyChoice};

/// What is asked, for whom.
#[derive(Debug)]
pub(super) enum Question {
    /// Which reply fits after a turn.
    Choice {
        worker: String,
        lease: Lease,
        after_turn: u32,
    },
    /// Whether a tone that gates was kept to.
    Tone { lease: Lease },
}

/// What the judge answers, each to the question of the same name.
#[derive(Debug)]
pub(super) enum Answer {
    /// The reply that fits, or why that is not known.
    Choice(Result<ReplyChoice, NotChosen>),
    /// Whether the tone was kept to.
    Tone(Box<Opinion>),
}

/// The questions under way. Dropping it ends them.
#[derive(Debug, Default)]
pub(super) struct Asking {
    tasks: JoinSet<Answer>,
    questions: HashMap<Id, Question>,
}

impl Asking {
    /// Lets `answer` bring the answer to a question.
    pub(super) fn begin(&mut self, question: Question, answer: impl Future<Output = Answer> + Send + 'static) {
        let id = self.tasks.spawn(answer).id();
        self.questions.insert(id, question);
    }

    /// The next answer, with its question; `None` when nothing is asked. Nothing is lost when it is dropped before it is ready.
    pub(super) async fn next(&mut self) -> Option<(Question, Answer)> {
        loop {
            let (id, answered) = match self.tasks.join_next_with_id().await? {
                Ok((id, answer)) => (id, Ok(answer)),
                Err(error) => (error.id(), Err(error)),
            };
            if let Some(question) = self.questions.remove(&id) {
                let answer = answered.unwrap_or_else(|error| question.failed(&error));
                return Some((question, answer));
            }
        }
    }
}

impl Question {
    /// An attempt waits for this answer, so it gets one.
    fn failed(&self, error: &JoinError) -> Answer {
        // What a panic says may quote what was asked, and everybody may read this; it is printed where it happened.
        let cause = match error.is_panic() {
            true => "the code that asks it panicked; please report this",
            false => "it was not asked to the end",
        };
        match self {
            Self::Choice { .. } => Answer::Choice(Err(NotChosen {
                cause: cause.to_owned(),
                usage: Usage::default(),
            })),
            Self::Tone { .. } => Answer::Tone(Box::new(Opinion {
                verdict: JudgeVerdict::Error,
                reasoning: cause.to_owned(),
                model: String::new(),
                usage: Usage::default(),
                duration_ms: 0,
                at_unix_ms: 0,
            })),
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::panic)]

    use mcproctor_proto::id::AttemptId;

    use super::*;

    fn lease() -> Lease {
        Lease {
            attempt: AttemptId::new("0-1-1"),
            epoch: 1,
        }
    }

    #[tokio::test]
    async fn a_question_whose_code_panics_is_answered_with_the_cause() {
        let mut asking = Asking::default();
        let question = Question::Choice {
            worker: "w".to_owned(),
            lease: lease(),
            after_turn: 3,
        };
        asking.begin(question, async { panic!("planted") });
        let Some((Question::Choice { after_turn, .. }, Answer::Choice(Err(not_chosen)))) = asking.next().await else {
            panic!("no choice")
        };
        assert_eq!(after_turn, 3);
        assert!(not_chosen.cause.contains("panicked"), "{}", not_chosen.cause);
        asking.begin(Question::Tone { lease: lease() }, async { panic!("planted") });
        let Some((Question::Tone { lease: of }, Answer::Tone(opinion))) = asking.next().await else {
            panic!("no opinion")
        };
        assert_eq!((opinion.verdict, of), (JudgeVerdict::Error, lease()));
        assert!(asking.next().await.is_none());
    }

    #[tokio::test]
    async fn a_question_that_is_ended_is_answered_too() {
        let mut asking = Asking::default();
        asking.begin(Question::Tone { lease: lease() }, std::future::pending());
        asking.tasks.abort_all();
        let Some((_, Answer::Tone(opinion))) = asking.next().await else {
            panic!("no opinion")
        };
        assert_eq!(opinion.reasoning, "it was not asked to the end");
    }
}
