//! The end of an attempt: verdict, record, store.

use std::sync::Arc;

use mcproctor_proto::agent::AgentKind;
use mcproctor_proto::assignment::{AttemptReport, SandboxLevel};
use mcproctor_proto::evidence::EvidenceKind;
use mcproctor_proto::id::Lease;
use mcproctor_proto::traffic::ModelTraffic;
use mcproctor_proto::worker::Order;

use super::asked::LastWord;
use super::{Attempt, Stored, Task};
use crate::conversation::Conversation;
use crate::event::{AttemptKey, Event};
use crate::loading::{Loading, in_effect, surprise};
use crate::outcome::{Facts, InvalidCause, Next, Outcome, Verdict, decide};
use crate::record::{AttemptRecord, ExpectationResult, TestCaseRecord};
use crate::scheduler::state::Conclusion;
use crate::store::PutAttempt;
use crate::validation::{Observed, check, compares_arguments, with_whole_arguments};

/// How an attempt came to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ended {
    /// In the way that its conversation tells.
    AsItDid,
    /// The run was stopped while the judge was asked about its tone.
    WithoutItsTone,
    /// Its worker is gone, and with it what it did last.
    Lost,
}

impl Task {
    pub(super) fn on_finished(&mut self, worker: &str, lease: Lease, report: AttemptReport) {
        if self.storing.contains(&lease.attempt) {
            return;
        }
        if !self.state.holds(&lease) {
            // Acknowledged as refused, so that the worker forgets it. Its evidence is uploaded already.
            self.send(worker, Order::Acknowledged { lease, accepted: false });
            return;
        }
        if self.reading.contains(&lease.attempt) {
            return;
        }
        let wanted = self.wanted_evidence(&lease, &report);
        let last = LastWord {
            worker: worker.to_owned(),
            lease,
            report,
            calls_in_full: None,
        };
        match wanted {
            None => self.settle(last),
            Some(sha256) => self.read_calls(last, sha256),
        }
    }

    /// The hash of the calls in full, where an expectation compares arguments that are too large for the report.
    fn wanted_evidence(&self, lease: &Lease, report: &AttemptReport) -> Option<String> {
        let slot = self.attempts.get(&lease.attempt)?.slot;
        let case = self.work.run.test_case_of(slot.cell as usize)?;
        if !compares_arguments(case, &report.calls) {
            return None;
        }
        let calls = report.evidence.iter().find(|piece| piece.kind == EvidenceKind::Calls)?;
        Some(calls.sha256.clone())
    }

    /// Reads the calls in full beside the schedule; the attempt is concluded when they are there.
    fn read_calls(&mut self, mut last: LastWord, sha256: String) {
        self.reading.insert(last.lease.attempt.clone());
        let (store, stored) = (self.store.clone(), self.stored.clone());
        tokio::spawn(async move {
            let read = tokio::task::spawn_blocking(move || store.reader()?.evidence(&sha256)).await;
            // Without them the expectation says that it could not be checked.
            last.calls_in_full = read.ok().and_then(Result::ok).flatten();
            // The receiver outlives everything that is being read.
            let _ = stored.send(Stored::Calls(Box::new(last))).await;
        });
    }

    pub(super) fn on_calls(&mut self, last: LastWord) {
        let LastWord { worker, lease, .. } = &last;
        self.reading.remove(&lease.attempt);
        // Meanwhile the lease may have ended.
        if self.state.holds(lease) {
            self.settle(last);
        } else {
            let lease = lease.clone();
            self.send(worker, Order::Acknowledged { lease, accepted: false });
        }
    }

    /// Concludes the attempt, unless the judge has to be asked first.
    fn settle(&mut self, last: LastWord) {
        if let Some(last) = self.ask_for_tone(last) {
            self.conclude(last, Ended::AsItDid);
        }
    }

    /// Says, once an agent, that tools reach the model otherwise than they were asked to.
    fn tell_of_loading(&mut self, cell: usize, traffic: &ModelTraffic) {
        let run = &self.work.run;
        let (Some(agent), Some(index)) = (run.agent_of(cell), cell.checked_div(run.test_cases.len())) else {
            return;
        };
        let kind = AgentKind::from_name(&agent.kind);
        let seen = kind.map_or(Loading::Unknown, |kind| in_effect(kind, traffic));
        if let Some(text) = surprise(agent, seen)
            && self.surprised.insert(index)
        {
            self.events.say(Event::Notice { text });
        }
    }

    /// Gives the attempt its verdict and hands its record to the store.
    pub(super) fn conclude(&mut self, last: LastWord, ended: Ended) {
        let LastWord {
            worker,
            lease,
            report,
            calls_in_full,
        } = last;
        let Some(mut attempt) = self.attempts.remove(&lease.attempt) else {
            return;
        };
        attempt.conversation.take_in(&report);
        let work = Arc::clone(&self.work);
        attempt.conversation.cost_usd = work.prices.cost_of(&attempt.conversation.traffic);
        let conversation = &attempt.conversation;

        let mut expectations = work
            .run
            .test_case_of(attempt.slot.cell as usize)
            .map(|case| checked(case, conversation, calls_in_full.as_deref()))
            .unwrap_or_default();
        let judge_fault = attempt.asked.add_tone(&mut expectations);
        let faults = [&report.machinery_fault, &conversation.judge_fault, &judge_fault];
        let verdict = decide(&Facts {
            interrupted: ended == Ended::WithoutItsTone || (self.finished.cancelled && !conversation.is_over()),
            machinery_fault: faults.into_iter().find_map(Option::as_deref),
            conversation,
            expectations: &expectations,
        });
        self.settle_budget(&lease, &attempt.conversation.traffic, ended == Ended::Lost);
        let now = self.clock.now_unix_ms();
        let Conclusion::Accepted { slot, last, .. } = self.state.conclude(&lease, &verdict, now) else {
            return;
        };
        if let Next::StopDispatch(message) = &verdict.next {
            let agent = work
                .run
                .agent_of(slot.cell as usize)
                .map(|agent| agent.name.as_str())
                .unwrap_or_default();
            self.finished.limit_reached |= verdict.outcome == Outcome::Invalid(InvalidCause::Limit);
            // A refusal concerns one agent's key or model; a server's login concerns all of them.
            self.stop_because(match verdict.outcome {
                Outcome::Invalid(InvalidCause::Model) => format!("agent {agent}: {message}"),
                _ => message.clone(),
            });
        }
        if last && matches!(verdict.outcome, Outcome::Invalid(_)) {
            self.finished.invalid += 1;
        }
        self.tell_of_loading(slot.cell as usize, &attempt.conversation.traffic);
        let said = std::mem::take(&mut attempt.asked.said);
        let record = Box::new(record_of(attempt, report, verdict, expectations, last));
        self.storing.insert(lease.attempt.clone());
        let (store, stored) = (self.store.clone(), self.stored.clone());
        let run = self.work.run.id.clone();
        tokio::spawn(async move {
            let mut result = store.put_attempt(&run, lease.epoch, &record).await;
            // Before anybody hears of the attempt: whoever judges it goes on from what was said already.
            if matches!(result, Ok(PutAttempt::Accepted))
                && !said.is_empty()
                && let Err(error) = store.put_judgement(&run, AttemptKey::of(&record), &said).await
            {
                result = Err(error);
            }
            // The receiver outlives everything that is being stored.
            let _ = stored
                .send(Stored::Attempt {
                    worker,
                    lease,
                    record,
                    result,
                })
                .await;
        });
    }

    /// A lost attempt ends as a fault of the machinery, with what was recorded before.
    pub(super) fn conclude_lost(&mut self, lease: Lease, reason: String) {
        let Some(attempt) = self.attempts.get(&lease.attempt) else {
            return;
        };
        let duration = self.clock.now_unix_ms().saturating_sub(attempt.started_at_unix_ms);
        let worker = attempt.worker.clone();
        let planned = self.work.run.agent_of(attempt.slot.cell as usize);
        let report = AttemptReport {
            machinery_fault: Some(reason),
            sandbox: planned.map_or(SandboxLevel::Process, |agent| agent.sandbox),
            evidence: Vec::new(),
            calls: attempt.conversation.calls.clone(),
            requests: attempt.conversation.requests.clone(),
            exposures: attempt.conversation.exposures.clone(),
            traffic: attempt.conversation.traffic.clone(),
            duration_ms: u64::try_from(duration).unwrap_or(0),
        };
        let last = LastWord {
            worker,
            lease,
            report,
            calls_in_full: None,
        };
        self.conclude(last, Ended::Lost);
    }
}

/// What became of the expectations, with the arguments of calls that were too large for the report read from the evidence.
pub(super) fn checked(
    case: &TestCaseRecord,
    conversation: &Conversation,
    calls_in_full: Option<&[u8]>,
) -> Vec<ExpectationResult> {
    let whole = calls_in_full.map(|evidence| with_whole_arguments(&conversation.calls, evidence));
    let observed = Observed {
        calls: whole.as_deref().unwrap_or(&conversation.calls),
        ..conversation.observed()
    };
    check(case, &observed)
}

fn record_of(
    attempt: Attempt,
    report: AttemptReport,
    verdict: Verdict,
    expectations: Vec<ExpectationResult>,
    last: bool,
) -> AttemptRecord {
    let conversation = attempt.conversation;
    AttemptRecord {
        cell: attempt.slot.cell,
        iteration: attempt.slot.iteration,
        attempt: attempt.attempt,
        outcome: verdict.outcome,
        reason: verdict.reason,
        last,
        started_at_unix_ms: attempt.started_at_unix_ms,
        duration_ms: report.duration_ms,
        worker: attempt.worker,
        sandbox: report.sandbox,
        turns: conversation.turns,
        calls: conversation.calls,
        requests: conversation.requests,
        expectations,
        exposures: conversation.exposures,
        traffic: conversation.traffic,
        cost_usd: conversation.cost_usd,
        evidence: report.evidence,
    }
}
