//! Feeds the schedule, holds the conversations, and performs what follows. One task owns all of it, so nothing is locked.

mod allow;
mod asked;
mod asking;
mod conclude;
mod judged;
mod lend;

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use mcproctor_proto::assignment::{Assignment, DEFAULT_IMAGE, LiveEvent, TurnReport};
use mcproctor_proto::id::{AttemptId, Lease};
use mcproctor_proto::worker::{Hello, Order, Says};
use tokio::sync::mpsc::{self, Receiver, Sender};

use self::asked::{Asked, LastWord};
use self::asking::Asking;
use super::message::{Finished, Input, Outbox, Work};
use super::state::{Effect, State, iteration_id};
use crate::clock::Clock;
use crate::conversation::{Conversation, Word};
use crate::event::{AttemptKey, Event, Events};
use crate::plan::Slot;
use crate::record::AttemptRecord;
use crate::store::{PutAttempt, Store, StoreError};

/// How often leases are looked at.
const TICK: Duration = Duration::from_millis(250);

struct Attempt {
    slot: Slot,
    attempt: u32,
    worker: String,
    started_at_unix_ms: i64,
    conversation: Conversation,
    /// What was asked of the judge while the attempt goes on.
    asked: Asked,
}

/// Something that was waited for is durable, or cannot be made so.
enum Stored {
    /// The note that an attempt is given out.
    Lease {
        worker: String,
        assignment: Box<Assignment>,
        result: Result<(), StoreError>,
    },
    /// An attempt's record.
    Attempt {
        worker: String,
        lease: Lease,
        record: Box<AttemptRecord>,
        result: Result<PutAttempt, StoreError>,
    },
    /// The calls of an attempt in full were read from its evidence, if they could be.
    Calls(Box<LastWord>),
}

struct Task {
    work: Arc<Work>,
    state: State,
    store: Store,
    events: Events,
    clock: Arc<dyn Clock>,
    outboxes: HashMap<String, Outbox>,
    attempts: HashMap<AttemptId, Attempt>,
    storing: HashSet<AttemptId>,
    /// Attempts that are over and whose calls are being read.
    reading: HashSet<AttemptId>,
    stored: Sender<Stored>,
    asking: Asking,
    /// Agents of which it was said that their tools are not loaded as they were asked to be, by index.
    surprised: HashSet<usize>,
    finished: Finished,
}

/// Runs the schedule to its end.
///
/// # Errors
/// When a result could not be made durable; nothing is acknowledged then, and the run can be resumed.
pub async fn run(
    work: Arc<Work>,
    state: State,
    store: Store,
    events: Events,
    clock: Arc<dyn Clock>,
    mut inputs: Receiver<Input>,
) -> Result<Finished, StoreError> {
    let (stored, mut synced) = mpsc::channel(1_024);
    let mut task = Task {
        work,
        state,
        store,
        events,
        clock,
        outboxes: HashMap::new(),
        attempts: HashMap::new(),
        storing: HashSet::new(),
        reading: HashSet::new(),
        stored,
        asking: Asking::default(),
        surprised: HashSet::new(),
        finished: Finished::default(),
    };
    let mut tick = tokio::time::interval(TICK);
    tick.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    loop {
        task.dispatch();
        if task.state.is_done() && task.storing.is_empty() && task.reading.is_empty() {
            break;
        }
        tokio::select! {
            Some(stored) = synced.recv() => task.on_stored(stored)?,
            Some((question, answer)) = task.asking.next() => task.on_answer(question, answer),
            input = inputs.recv() => match input {
                Some(input) => task.on_input(input),
                None => task.on_input(Input::Abandon { reason: "nobody is left to run it".to_owned() }),
            },
            _ = tick.tick() => {
                let effects = task.state.expire(task.clock.now_unix_ms());
                task.perform(effects);
            }
        }
    }
    for outbox in task.outboxes.values() {
        // A worker that has gone needs no drain.
        let _ = outbox.send(Order::Drain);
    }
    Ok(task.finished)
}

impl Task {
    fn on_input(&mut self, input: Input) {
        match input {
            Input::Joined { hello, outbox } => self.on_joined(&hello, outbox),
            Input::Left { worker, reason } => {
                self.outboxes.remove(&worker);
                let effects = self.state.leave(&worker, &reason);
                self.perform(effects);
            }
            Input::Says { worker, says } => self.on_says(&worker, says),
            Input::Cancel { reason } => {
                self.finished.cancelled = true;
                self.stop_because(reason.clone());
                let effects = self.state.cancel();
                self.perform(effects);
                self.conclude_without_tone();
            }
            Input::Abandon { reason } => {
                self.stop_because(reason.clone());
                self.state.stop();
                for worker in self.outboxes.drain().map(|(worker, _)| worker).collect::<Vec<_>>() {
                    let effects = self.state.leave(&worker, &reason);
                    self.perform(effects);
                }
            }
        }
    }

    fn on_joined(&mut self, hello: &Hello, outbox: Outbox) {
        // What a worker still runs from before is not ours: its leases are of another process of the coordinator.
        for lease in &hello.running {
            let _ = outbox.send(Order::Cancel {
                lease: lease.clone(),
                reason: "the lease has ended".to_owned(),
            });
        }
        let _ = outbox.send(Order::Welcome {
            heartbeat: self.work.heartbeat,
            lease: self.work.lease,
        });
        self.outboxes.insert(hello.worker.clone(), outbox);
        self.state.join(&hello.worker, hello.slots);
    }

    fn on_says(&mut self, worker: &str, says: Says) {
        match says {
            Says::Heartbeat(leases) => self.state.heartbeat(&leases, self.clock.now_unix_ms()),
            Says::Event(lease, event) => self.on_live(&lease, event),
            Says::Turn(lease, report) => self.on_turn(worker, lease, *report),
            Says::Vacated(lease) => self.on_vacated(&lease),
            Says::Finished(lease, report) => self.on_finished(worker, lease, *report),
            Says::Leaving => self.state.leaving(worker),
        }
    }

    /// The slot of an attempt whose verdict may stop or slow the run stays taken until that is known.
    fn on_vacated(&mut self, lease: &Lease) {
        let attempt = self.attempts.get(&lease.attempt);
        if attempt.is_some_and(|attempt| attempt.conversation.is_untroubled()) {
            self.state.vacate(lease);
        }
    }

    fn on_live(&self, lease: &Lease, event: LiveEvent) {
        let Some(attempt) = self.attempts.get(&lease.attempt).filter(|_| self.state.holds(lease)) else {
            return;
        };
        let key = key(attempt.slot, attempt.attempt);
        self.events.say(match event {
            LiveEvent::TurnStarted { turn } => Event::TurnStarted { key, turn },
            LiveEvent::CallStarted { call, tool } => Event::CallStarted { key, call, tool },
            LiveEvent::CallEnded {
                call,
                tool,
                state,
                duration_ms,
            } => Event::CallEnded {
                key,
                call,
                tool,
                state,
                duration_ms,
            },
        });
    }

    fn on_turn(&mut self, worker: &str, lease: Lease, report: TurnReport) {
        if !self.state.holds(&lease) {
            self.send(
                worker,
                Order::Cancel {
                    lease,
                    reason: "the lease has ended".to_owned(),
                },
            );
            return;
        }
        let work = Arc::clone(&self.work);
        let Some(attempt) = self.attempts.get_mut(&lease.attempt) else {
            return;
        };
        let Some(case) = work.run.test_case_of(attempt.slot.cell as usize) else {
            return;
        };
        let after_turn = report.turn.index;
        attempt.conversation.cost_usd = work.prices.cost_of(&report.traffic);
        let instruction = match attempt.conversation.after_turn(report, case) {
            Word::Tell(instruction) => instruction,
            Word::AwaitChoice(left) => {
                self.ask_for_choice(worker, lease, after_turn, left);
                return;
            }
        };
        self.send(
            worker,
            Order::Instruction {
                lease,
                after_turn,
                instruction,
            },
        );
    }

    fn on_stored(&mut self, stored: Stored) -> Result<(), StoreError> {
        match stored {
            Stored::Calls(last) => self.on_calls(*last),
            Stored::Lease {
                worker,
                assignment,
                result,
            } => {
                result?;
                // Its worker may have been lost, or the run stopped, while the note was written.
                if self.finished.cancelled {
                    self.conclude_lost(assignment.lease, "the run was stopped".to_owned());
                } else if self.state.holds(&assignment.lease) {
                    self.send(&worker, Order::Assignment(assignment));
                }
            }
            Stored::Attempt {
                worker,
                lease,
                record,
                result,
            } => {
                self.storing.remove(&lease.attempt);
                let accepted = result? == PutAttempt::Accepted;
                self.send(&worker, Order::Acknowledged { lease, accepted });
                if !accepted {
                    return Ok(());
                }
                self.events.say(Event::AttemptFinished {
                    key: AttemptKey {
                        cell: record.cell,
                        iteration: record.iteration,
                        attempt: record.attempt,
                    },
                    outcome: record.outcome,
                    reason: record.reason.clone(),
                    last: record.last,
                    duration_ms: record.duration_ms,
                });
            }
        }
        Ok(())
    }

    fn dispatch(&mut self) {
        let effects = self.state.dispatch(self.clock.now_unix_ms());
        self.perform(effects);
    }

    fn perform(&mut self, effects: Vec<Effect>) {
        for effect in effects {
            match effect {
                Effect::Assign {
                    worker,
                    slot,
                    attempt,
                    lease,
                } => self.assign(worker, slot, attempt, lease),
                Effect::OutOfBudget { limit, spent } => self.on_out_of_budget(limit, spent),
                Effect::Cancel { worker, lease } => {
                    self.send(
                        &worker,
                        Order::Cancel {
                            lease,
                            reason: "the run is stopped".to_owned(),
                        },
                    );
                }
                // Everything that it had to say was heard; only the judge is waited for.
                Effect::Lost { lease, .. } if self.awaits_tone(&lease) => {}
                Effect::Lost { worker, lease, reason } => {
                    self.send(
                        &worker,
                        Order::Cancel {
                            lease: lease.clone(),
                            reason: reason.clone(),
                        },
                    );
                    self.conclude_lost(lease, reason);
                }
            }
        }
    }

    fn assign(&mut self, worker: String, slot: Slot, number: u32, lease: Lease) {
        let work = Arc::clone(&self.work);
        let cell = slot.cell as usize;
        let agent = cell
            .checked_div(work.run.test_cases.len())
            .and_then(|agent| work.agents.get(agent));
        let (Some(agent), Some(planned), Some(case)) = (agent, work.run.agent_of(cell), work.run.test_case_of(cell))
        else {
            return;
        };
        let started_at_unix_ms = self.clock.now_unix_ms();
        let max_turns = u32::try_from(case.answers.len()).unwrap_or(u32::MAX).saturating_add(1);
        let allowance = self.allowance(&worker, &lease, agent);
        let assignment = Assignment {
            lease: lease.clone(),
            run: work.run.id.clone(),
            iteration: iteration_id(slot),
            attempt_number: number,
            agent: self.lent(agent, &lease, max_turns, &allowance),
            servers: work.servers.clone(),
            prompt: case.prompt.clone(),
            max_turns,
            turn_timeout: work.turn_timeout,
            idle_timeout: work.idle_timeout,
            sandbox: planned.sandbox,
            image: planned.image.clone().unwrap_or_else(|| DEFAULT_IMAGE.to_owned()),
            resources: work.resources.at(planned.sandbox),
            model_ca_pem: self.model_ca_pem(agent),
            allowance,
            blinded: work.blinded.clone(),
            debug: work.debug,
        };
        self.events.say(Event::AttemptStarted {
            key: key(slot, number),
            worker: worker.clone(),
        });
        self.note_and_send(worker.clone(), key(slot, number), assignment);
        let conversation = Conversation::default();
        self.attempts.insert(
            lease.attempt,
            Attempt {
                slot,
                attempt: number,
                worker,
                started_at_unix_ms,
                conversation,
                asked: Asked::default(),
            },
        );
    }

    /// Sends an assignment once it is noted durably, so that whoever takes over from a killed coordinator knows of it.
    fn note_and_send(&self, worker: String, key: AttemptKey, assignment: Assignment) {
        let (store, stored, now) = (self.store.clone(), self.stored.clone(), self.clock.now_unix_ms());
        tokio::spawn(async move {
            let epoch = assignment.lease.epoch;
            let result = store.put_lease(&assignment.run, key, epoch, &worker, now).await;
            let _ = stored
                .send(Stored::Lease {
                    worker,
                    assignment: Box::new(assignment),
                    result,
                })
                .await;
        });
    }

    fn stop_because(&mut self, reason: String) {
        if self.finished.stopped.is_none() {
            self.events.say(Event::Stopping { reason: reason.clone() });
            self.finished.stopped = Some(reason);
        }
    }

    fn send(&self, worker: &str, order: Order) {
        if let Some(outbox) = self.outboxes.get(worker) {
            // A worker that is gone is told of by `Input::Left`.
            let _ = outbox.send(order);
        }
    }
}

fn key(slot: Slot, attempt: u32) -> AttemptKey {
    AttemptKey {
        cell: slot.cell,
        iteration: slot.iteration,
        attempt,
    }
}
