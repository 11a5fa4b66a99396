//! Which attempts are still to be judged. Pure: events in, the next attempt out.

use std::collections::VecDeque;

use crate::event::{AttemptKey, Event};
use crate::outcome::Outcome;

/// Attempts that wait for the judge: their keys alone, so that a slow judge fills no memory.
#[derive(Debug, Default)]
pub(super) struct Queue {
    waiting: VecDeque<AttemptKey>,
}

impl Queue {
    /// Takes in what happened. Only results that say something about the agent are judged.
    pub(super) fn hear(&mut self, event: &Event) {
        match event {
            Event::AttemptFinished {
                key,
                outcome: Outcome::Passed | Outcome::Failed(_),
                last: true,
                ..
            } => self.waiting.push_back(*key),
            // A resumed run tells what it has already right behind the attempt that it is about.
            Event::Judged { key, .. } if self.waiting.back() == Some(key) => {
                self.waiting.pop_back();
            }
            _ => {}
        }
    }

    /// The one that waits longest.
    pub(super) fn next(&mut self) -> Option<AttemptKey> {
        self.waiting.pop_front()
    }

    /// How many wait.
    pub(super) fn len(&self) -> usize {
        self.waiting.len()
    }
}

#[cfg(test)]
mod tests {
    use mcproctor_proto::turn::Usage;

    use super::*;
    use crate::judge::{Agreement, JudgeVerdict};
    use crate::outcome::{FailureClass, InvalidCause};

    fn key(iteration: u32) -> AttemptKey {
        AttemptKey {
            cell: 0,
            iteration,
            attempt: 1,
        }
    }

    fn finished(iteration: u32, outcome: Outcome, last: bool) -> Event {
        Event::AttemptFinished {
            key: key(iteration),
            outcome,
            reason: String::new(),
            last,
            duration_ms: 1,
        }
    }

    fn judged(iteration: u32) -> Event {
        Event::Judged {
            key: key(iteration),
            verdict: JudgeVerdict::Pass,
            agreement: Agreement::Agrees,
            reasoning: String::new(),
            tone: None,
            model: String::new(),
            usage: Usage::default(),
            duration_ms: 1,
        }
    }

    #[test]
    fn only_results_that_say_something_about_the_agent_are_judged() {
        let mut queue = Queue::default();
        queue.hear(&finished(1, Outcome::Passed, true));
        queue.hear(&finished(2, Outcome::Invalid(InvalidCause::Server), true));
        queue.hear(&finished(3, Outcome::Invalid(InvalidCause::Model), false));
        queue.hear(&finished(4, Outcome::Aborted, true));
        queue.hear(&finished(5, Outcome::Failed(FailureClass::WrongTool), true));
        assert_eq!(queue.len(), 2);
        assert_eq!(
            [queue.next(), queue.next(), queue.next()],
            [Some(key(1)), Some(key(5)), None]
        );
    }

    #[test]
    fn what_an_earlier_process_had_judged_is_not_judged_again() {
        let mut queue = Queue::default();
        for event in [
            finished(1, Outcome::Passed, true),
            judged(1),
            finished(2, Outcome::Passed, true),
            finished(3, Outcome::Passed, true),
            judged(3),
        ] {
            queue.hear(&event);
        }
        assert_eq!((queue.next(), queue.next()), (Some(key(2)), None));
        queue.hear(&judged(2));
        assert_eq!(queue.next(), None);
    }
}
