//! What attempts wait for from the judge: the choice among replies, and a tone that gates. The schedule goes on meanwhile.

use std::sync::Arc;

use mcproctor_proto::assignment::AttemptReport;
use mcproctor_proto::id::Lease;
use mcproctor_proto::turn::Usage;
use mcproctor_proto::worker::Order;

use super::Task;
use super::asked::ToneGate;
use super::asking::Question;
use super::conclude::checked;
use crate::conversation::Conversation;
use crate::judge::{NotChosen, Opinion, ReplyChoice};
use crate::outcome::{Facts, FailureClass, Outcome, decide};
use crate::record::TestCaseRecord;

/// Why nothing is asked; the config is refused before it comes to this.
const NO_JUDGE: &str = "the config has no judge";

/// An answer of the judge.
#[derive(Debug)]
pub(super) enum Judged {
    /// Which reply fits, or why that is not known.
    Choice {
        worker: String,
        lease: Lease,
        after_turn: u32,
        choice: Result<ReplyChoice, NotChosen>,
    },
    /// Whether the tone was kept to.
    Tone { lease: Lease, opinion: Box<Opinion> },
}

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
        let worker = worker.to_owned();
        let question = Question::Choice {
            worker: worker.clone(),
            lease: lease.clone(),
            after_turn,
        };
        self.asking.begin(question, async move {
            let choice = match &work.judge {
                Some(judge) => judge.choose(&case, &turns, &left).await,
                None => Err(NotChosen {
                    cause: NO_JUDGE.to_owned(),
                    usage: Usage::default(),
                }),
            };
            Judged::Choice {
                worker,
                lease,
                after_turn,
                choice,
            }
        });
    }

    /// Asks about a tone that gates, when nothing else stands in the way of a verdict; the attempt's slot is free meanwhile.
    /// `false` when nothing has to be asked.
    pub(super) fn ask_for_tone(
        &mut self,
        worker: &str,
        lease: &Lease,
        report: &AttemptReport,
        calls_in_full: Option<&[u8]>,
    ) -> bool {
        let work = Arc::clone(&self.work);
        let Some(judge) = work.judge.clone() else {
            return false;
        };
        let cancelled = self.finished.cancelled;
        let Some(attempt) = self.attempts.get_mut(&lease.attempt) else {
            return false;
        };
        if attempt.asked.awaits_tone() {
            // The worker says its last word again.
            return true;
        }
        let case = work.run.test_case_of(attempt.slot.cell as usize);
        let gate = case.and_then(|case| Some((case, case.tone.as_ref().filter(|tone| tone.gate)?)));
        let Some((case, tone)) = gate.filter(|_| !cancelled) else {
            return false;
        };
        attempt.conversation.take_in(report);
        if !says_something(case, &attempt.conversation, report, calls_in_full) {
            return false;
        }
        attempt.asked.tone = ToneGate::Awaited {
            worker: worker.to_owned(),
            lease: lease.clone(),
            report: Box::new(report.clone()),
            calls_in_full: calls_in_full.map(<[u8]>::to_vec),
        };
        let (rubric, turns) = (tone.rubric.clone(), attempt.conversation.turns.clone());
        let lease = lease.clone();
        self.state.vacate(&lease);
        let question = Question::Tone { lease: lease.clone() };
        self.asking.begin(question, async move {
            let opinion = Box::new(judge.awaited_tone(&rubric, &turns).await);
            Judged::Tone { lease, opinion }
        });
        true
    }

    /// Whether only the judge's word on the tone is missing.
    pub(super) fn awaits_tone(&self, lease: &Lease) -> bool {
        let attempt = self.attempts.get(&lease.attempt);
        attempt.is_some_and(|attempt| attempt.asked.awaits_tone())
    }

    pub(super) fn on_judged(&mut self, judged: Judged) {
        match judged {
            Judged::Choice {
                worker,
                lease,
                after_turn,
                choice,
            } => self.on_choice(&worker, lease, after_turn, choice),
            Judged::Tone { lease, opinion } => {
                let Some(attempt) = self.attempts.get_mut(&lease.attempt) else {
                    return;
                };
                attempt.asked.said.tone = Some(*opinion);
                if let ToneGate::Awaited {
                    worker,
                    lease,
                    report,
                    calls_in_full,
                } = std::mem::replace(&mut attempt.asked.tone, ToneGate::Known)
                {
                    self.conclude(&worker, lease, *report, calls_in_full.as_deref());
                }
            }
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
        let waiting: Vec<(String, Lease, AttemptReport, Option<Vec<u8>>)> = self
            .attempts
            .values()
            .filter_map(|attempt| match &attempt.asked.tone {
                ToneGate::Awaited {
                    worker,
                    lease,
                    report,
                    calls_in_full,
                } => Some((
                    worker.clone(),
                    lease.clone(),
                    report.as_ref().clone(),
                    calls_in_full.clone(),
                )),
                ToneGate::NotAsked | ToneGate::Known => None,
            })
            .collect();
        for (worker, lease, report, calls_in_full) in waiting {
            self.conclude(&worker, lease, report, calls_in_full.as_deref());
        }
    }
}

/// Whether the attempt would say something about the agent, so that its tone counts.
fn says_something(
    case: &TestCaseRecord,
    conversation: &Conversation,
    report: &AttemptReport,
    calls_in_full: Option<&[u8]>,
) -> bool {
    let verdict = decide(&Facts {
        interrupted: false,
        machinery_fault: report
            .machinery_fault
            .as_deref()
            .or(conversation.judge_fault.as_deref()),
        conversation,
        expectations: &checked(case, conversation, calls_in_full),
    });
    match verdict.outcome {
        Outcome::Passed => true,
        // These are settled whatever the agent's tone.
        Outcome::Failed(class) => !matches!(class, FailureClass::AgentError | FailureClass::RanOutOfTime),
        Outcome::Invalid(_) | Outcome::Aborted => false,
    }
}
