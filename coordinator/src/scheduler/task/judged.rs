//! What attempts wait for from the judge: the choice among replies, and a tone that gates. The schedule goes on meanwhile.

use std::sync::Arc;

use mcproctor_proto::assignment::AttemptReport;
use mcproctor_proto::id::Lease;
use mcproctor_proto::worker::Order;

use super::Task;
use super::conclude::checked;
use crate::conversation::Conversation;
use crate::judge::{JudgeVerdict, Judgement, Opinion, ReplyChoice};
use crate::outcome::{Facts, FailureClass, Outcome, decide};
use crate::record::{ExpectationResult, Family, TestCaseRecord};

/// Why nothing is asked; the config is refused before it comes to this.
const NO_JUDGE: &str = "the config has no judge";

/// What one attempt has asked of the judge.
#[derive(Debug, Default)]
pub(super) struct Asked {
    /// What the judge has said so far.
    pub(super) said: Judgement,
    /// The last turn after which a choice was asked for.
    choice_after: Option<u32>,
    tone: ToneGate,
}

/// Where an attempt stands with a tone that gates.
#[derive(Debug, Default)]
enum ToneGate {
    /// It was not asked about: the test case does not gate on it, or the attempt is not that far.
    #[default]
    NotAsked,
    /// The worker has said everything; the judge is at it.
    Awaited {
        worker: String,
        lease: Lease,
        report: Box<AttemptReport>,
        calls_in_full: Option<Vec<u8>>,
    },
    /// The judge has answered; what it said is in [`Asked::said`].
    Known,
}

/// An answer of the judge.
#[derive(Debug)]
pub(super) enum Judged {
    /// Which reply fits, or why that is not known.
    Choice {
        worker: String,
        lease: Lease,
        after_turn: u32,
        choice: Result<ReplyChoice, String>,
    },
    /// Whether the tone was kept to.
    Tone { lease: Lease, opinion: Box<Opinion> },
}

impl Asked {
    /// Whether a choice is to be asked for after this turn: a turn that is told again asks nothing.
    fn begin_choice(&mut self, after_turn: u32) -> bool {
        self.choice_after.replace(after_turn) != Some(after_turn)
    }

    pub(super) fn awaits_tone(&self) -> bool {
        matches!(self.tone, ToneGate::Awaited { .. })
    }

    /// Adds what the judge said of a tone that gates to what was expected. A judge that failed leaves the attempt without a
    /// verdict, and this gives the cause; unless something else is unmet, which settles it.
    pub(super) fn add_tone(&self, expectations: &mut Vec<ExpectationResult>) -> Option<String> {
        let opinion = match (&self.tone, &self.said.tone) {
            (ToneGate::Known, Some(opinion)) => opinion,
            _ => return None,
        };
        if opinion.verdict == JudgeVerdict::Error {
            let settled = expectations.iter().any(|expectation| !expectation.met);
            return (!settled).then(|| format!("the judge did not judge the tone: {}", opinion.reasoning));
        }
        expectations.push(tone_expectation(opinion));
        None
    }
}

/// The gate opens only for a pass: a judge that cannot tell has not said that the tone was kept to.
fn tone_expectation(opinion: &Opinion) -> ExpectationResult {
    let met = opinion.verdict == JudgeVerdict::Pass;
    let why = match opinion.verdict {
        JudgeVerdict::Uncertain => format!("the judge could not tell: {}", opinion.reasoning),
        _ => opinion.reasoning.clone(),
    };
    ExpectationResult {
        family: Family::Tone,
        what: "the tone is kept to".to_owned(),
        met,
        why: if met { String::new() } else { why },
        ..ExpectationResult::default()
    }
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
        let (judged, worker) = (self.judged.clone(), worker.to_owned());
        tokio::spawn(async move {
            let choice = match &work.judge {
                Some(judge) => judge.choose(&case, &turns, &left).await,
                None => Err(NO_JUDGE.to_owned()),
            };
            // A schedule that is over needs no choice.
            let _ = judged
                .send(Judged::Choice {
                    worker,
                    lease,
                    after_turn,
                    choice,
                })
                .await;
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
        let (judged, lease) = (self.judged.clone(), lease.clone());
        self.state.vacate(&lease);
        let work = Arc::clone(&work);
        tokio::spawn(async move {
            if let Some(judge) = &work.judge {
                let opinion = Box::new(judge.awaited_tone(&rubric, &turns).await);
                // A schedule that is over needs no opinion.
                let _ = judged.send(Judged::Tone { lease, opinion }).await;
            }
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

    fn on_choice(&mut self, worker: &str, lease: Lease, after_turn: u32, choice: Result<ReplyChoice, String>) {
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
            Err(cause) => Err(cause),
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

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use mcproctor_proto::turn::Usage;

    use super::*;

    fn asked(verdict: JudgeVerdict) -> Asked {
        let opinion = Opinion {
            verdict,
            reasoning: "it shouts".to_owned(),
            model: "m".to_owned(),
            usage: Usage::default(),
            duration_ms: 1,
            at_unix_ms: 0,
        };
        Asked {
            said: Judgement {
                tone: Some(opinion),
                ..Judgement::default()
            },
            choice_after: None,
            tone: ToneGate::Known,
        }
    }

    fn other(met: bool) -> ExpectationResult {
        ExpectationResult {
            met,
            family: Family::Tools,
            what: "a called".to_owned(),
            ..tone_expectation(&asked(JudgeVerdict::Pass).said.tone.unwrap())
        }
    }

    #[test]
    fn the_gate_opens_for_a_pass_alone() {
        for (verdict, met, why) in [
            (JudgeVerdict::Pass, true, ""),
            (JudgeVerdict::Fail, false, "it shouts"),
            (JudgeVerdict::Uncertain, false, "the judge could not tell: it shouts"),
        ] {
            let mut expectations = vec![other(true)];
            assert_eq!(asked(verdict).add_tone(&mut expectations), None);
            let tone = expectations.pop().unwrap();
            assert_eq!((tone.family, tone.met, tone.why.as_str()), (Family::Tone, met, why));
        }
    }

    #[test]
    fn a_judge_that_failed_is_the_cause_unless_something_else_is_unmet() {
        let mut expectations = vec![other(true)];
        assert_eq!(
            asked(JudgeVerdict::Error).add_tone(&mut expectations).as_deref(),
            Some("the judge did not judge the tone: it shouts")
        );
        let mut expectations = vec![other(false)];
        assert_eq!(asked(JudgeVerdict::Error).add_tone(&mut expectations), None);
        assert_eq!(expectations.len(), 1);
    }

    #[test]
    fn a_turn_that_is_told_again_asks_for_no_second_choice() {
        let mut asked = Asked::default();
        assert!(asked.begin_choice(0));
        assert!(!asked.begin_choice(0));
        assert!(asked.begin_choice(1));
    }

    #[test]
    fn a_tone_that_does_not_gate_is_no_expectation() {
        let mut advisory = asked(JudgeVerdict::Fail);
        advisory.tone = ToneGate::NotAsked;
        let mut expectations = vec![other(true)];
        assert_eq!(advisory.add_tone(&mut expectations), None);
        assert_eq!(expectations.len(), 1);
    }
}
