//! What attempts wait for from the judge: the choice among replies, and a tone that gates. The schedule goes on meanwhile.

use std::sync::Arc;

use mcproctor_proto::id::Lease;
use mcproctor_proto::turn::Usage;
use mcproctor_proto::worker::Order;

use super::asked::LastWord;
use super::asking::{Answer, Question};
use super::conclude::{Ended, checked};
use super::{Attempt, Task};
use crate::conversation::Conversation;
use crate::judge::{NotChosen, ReplyChoice};
use crate::outcome::{Facts, FailureClass, Outcome, decide};
use crate::record::TestCaseRecord;

/// Why nothing is asked; the config is refused before it comes to this.
const NO_JUDGE: &str = "the config has no judge";

impl Task {
    /// Asks which of the replies that are left fits after a turn; the worker waits for the answer.
    pub(super) fn ask_for_choice(&mut self, worker: &str, lease: Lease, after_turn: u32, left: Vec<usize>) {
        let work = Arc::clone(&self.work);
        let Some(attempt) = self.attempts.get_mut(&lease.attempt) else {
            return;
        };
        if !attempt.asked.begin_choice(after_turn) {
            return;
        }
        let Some(case) = work.run.test_case_of(attempt.slot.cell as usize).cloned() else {
            return;
        };
        let turns = attempt.conversation.turns.clone();
        let question = Question::Choice {
            worker: worker.to_owned(),
            lease,
            after_turn,
        };
        self.asking.begin(question, async move {
            Answer::Choice(match &work.judge {
                Some(judge) => judge.choose(&case, &turns, &left).await,
                None => Err(NotChosen {
                    cause: NO_JUDGE.to_owned(),
                    usage: Usage::default(),
                }),
            })
        });
    }

    /// Asks about a tone that gates, when nothing else stands in the way of a verdict; the attempt's slot is free meanwhile.
    /// Gives the last word back when nothing has to be asked, so that the attempt can be concluded with it.
    pub(super) fn ask_for_tone(&mut self, last: LastWord) -> Option<LastWord> {
        let work = Arc::clone(&self.work);
        let (Some(judge), Some(attempt)) = (work.judge.clone(), self.attempts.get_mut(&last.lease.attempt)) else {
            return Some(last);
        };
        if attempt.asked.awaits_tone() {
            // The worker says its last word again.
            return None;
        }
        let case = work.run.test_case_of(attempt.slot.cell as usize);
        let gate = case.and_then(|case| Some((case, case.tone.as_ref().filter(|tone| tone.gate)?)));
        let Some((case, tone)) = gate.filter(|_| !self.finished.cancelled) else {
            return Some(last);
        };
        attempt.conversation.take_in(&last.report);
        attempt.conversation.cost_usd = work.prices.cost_of(&attempt.conversation.traffic);
        if !says_something(case, &attempt.conversation, &last) {
            return Some(last);
        }
        let (rubric, turns) = (tone.rubric.clone(), attempt.conversation.turns.clone());
        let lease = last.lease.clone();
        attempt.asked.awaiting = Some(Box::new(last));
        self.state.vacate(&lease);
        self.asking.begin(Question::Tone { lease }, async move {
            Answer::Tone(Box::new(judge.awaited_tone(&rubric, &turns).await))
        });
        None
    }

    /// Whether only the judge's word on the tone is missing.
    pub(super) fn awaits_tone(&self, lease: &Lease) -> bool {
        let attempt = self.attempts.get(&lease.attempt);
        attempt.is_some_and(|attempt| attempt.asked.awaits_tone())
    }

    pub(super) fn on_answer(&mut self, question: Question, answer: Answer) {
        match (question, answer) {
            (
                Question::Choice {
                    worker,
                    lease,
                    after_turn,
                },
                Answer::Choice(choice),
            ) => self.on_choice(&worker, lease, after_turn, choice),
            (Question::Tone { lease }, Answer::Tone(opinion)) => {
                let Some(attempt) = self.attempts.get_mut(&lease.attempt) else {
                    return;
                };
                attempt.asked.said.tone = Some(*opinion);
                if let Some(last) = attempt.asked.awaiting.take() {
                    self.conclude(*last, Ended::AsItDid);
                }
            }
            // A question has an answer of its kind.
            (Question::Choice { .. }, Answer::Tone(_)) | (Question::Tone { .. }, Answer::Choice(_)) => {}
        }
    }

    fn on_choice(&mut self, worker: &str, lease: Lease, after_turn: u32, choice: Result<ReplyChoice, NotChosen>) {
        let work = Arc::clone(&self.work);
        if !self.state.holds(&lease) {
            return;
        }
        let Some(attempt) = self.attempts.get_mut(&lease.attempt) else {
            return;
        };
        let Some(case) = work.run.test_case_of(attempt.slot.cell as usize) else {
            return;
        };
        let place = match choice {
            Ok(choice) => {
                let place = choice.reply;
                attempt.asked.said.choices.push(choice);
                Ok(place)
            }
            Err(not_chosen) => {
                attempt.asked.said.for_nothing.add(&not_chosen.usage);
                Err(not_chosen.cause)
            }
        };
        let told = attempt.conversation.picked(after_turn, place, case);
        if let Some(instruction) = told {
            self.send(
                worker,
                Order::Instruction {
                    lease,
                    after_turn,
                    instruction,
                },
            );
        }
    }

    /// The run is stopped: what waits for the judge is concluded without it.
    pub(super) fn conclude_without_tone(&mut self) {
        let awaiting = |attempt: &mut Attempt| attempt.asked.awaiting.take();
        let waiting: Vec<LastWord> = self
            .attempts
            .values_mut()
            .filter_map(awaiting)
            .map(|last| *last)
            .collect();
        for last in waiting {
            self.conclude(last, Ended::WithoutItsTone);
        }
    }
}

/// Whether the attempt would say something about the agent, so that its tone counts.
fn says_something(case: &TestCaseRecord, conversation: &Conversation, last: &LastWord) -> bool {
    let verdict = decide(&Facts {
        interrupted: false,
        machinery_fault: last
            .report
            .machinery_fault
            .as_deref()
            .or(conversation.judge_fault.as_deref()),
        conversation,
        expectations: &checked(case, conversation, last.calls_in_full.as_deref()),
    });
    match verdict.outcome {
        Outcome::Passed => true,
        // These are settled whatever the agent's tone.
        Outcome::Failed(class) => !matches!(class, FailureClass::AgentError | FailureClass::RanOutOfTime),
        Outcome::Invalid(_) | Outcome::Aborted => false,
    }
}
