//! Which attempt goes to which worker, and what follows from its end. Pure: messages in, effects out, time passed in.
//!
//! An iteration is *waiting* (in the plan, or among the retries with a time before which it is not given out), then
//! *running* under a lease that heartbeats renew, at its end perhaps without its slot (its evidence is being uploaded, and
//! the next attempt begins), then *concluded*: it has its result, waits again for a new attempt, or
//! is left without one because the run stops.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, HashMap, HashSet};

use mcproctor_proto::id::{AttemptId, IterationId, Lease};

use crate::limits::{Budget, Limit, Reserved, Short, Spent};
use crate::outcome::{Next, Outcome, Verdict};
use crate::plan::{Plan, Slot};

/// The first pause before a new attempt, in milliseconds; each further one is twice as long.
const FIRST_BACKOFF_MS: i64 = 1_000;
/// The longest pause before a new attempt that is not asked for by the model, in milliseconds.
const LONGEST_BACKOFF_MS: i64 = 60_000;
/// Conclusions that say something about the agent before one more attempt at once is tried again.
const GROW_AFTER: u32 = 8;

/// What does not change during a run.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// Attempts at most per iteration.
    pub max_attempts: u32,
    /// Attempts at most at once, over all workers.
    pub concurrency: u32,
    /// How long a lease lasts without a heartbeat, in milliseconds.
    pub lease_ms: i64,
}

/// Something that the task has to do.
#[derive(Clone, Debug, PartialEq)]
pub enum Effect {
    /// Send the attempt to the worker.
    Assign {
        /// The worker's name.
        worker: String,
        /// Which iteration.
        slot: Slot,
        /// Which try, from 1.
        attempt: u32,
        /// The lease under which it runs.
        lease: Lease,
    },
    /// Tell the worker to kill the attempt.
    Cancel {
        /// The worker's name.
        worker: String,
        /// The lease.
        lease: Lease,
    },
    /// The worker is gone or did not renew in time: conclude the attempt as a fault of the machinery.
    Lost {
        /// The worker's name.
        worker: String,
        /// The lease that ended.
        lease: Lease,
        /// Why, in words.
        reason: String,
    },
    /// A limit of the run is reached, nothing runs any more, and nothing more will be given out.
    OutOfBudget {
        /// Which.
        limit: Limit,
        /// What is spent of it.
        spent: Limit,
    },
}

/// What became of a result that a worker sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Conclusion {
    /// It counts.
    Accepted {
        /// Which iteration.
        slot: Slot,
        /// Which try, from 1.
        attempt: u32,
        /// Whether it is the iteration's result.
        last: bool,
    },
    /// Its lease is not the current one; it is evidence and nothing more.
    Late,
}

/// What an iteration without a result has behind it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Tried {
    /// The number of its last attempt.
    pub attempts: u32,
    /// Attempts that count against the most that are allowed; those that were stopped with the run, or by one of its
    /// limits, do not.
    pub spent: u32,
}

#[derive(Clone, Debug)]
struct Worker {
    slots: u32,
    leaving: bool,
}

#[derive(Clone, Debug)]
struct Running {
    slot: Slot,
    attempt: u32,
    spent: u32,
    epoch: u64,
    worker: String,
    expires_ms: i64,
    /// Whether it takes up a slot.
    seated: bool,
}

/// The state of one run's schedule.
#[derive(Debug)]
pub struct State {
    settings: Settings,
    plan: Plan,
    /// Iterations that had their result before this process began.
    finished_before: HashSet<Slot>,
    /// Iterations that had attempts, but no result, before this process began.
    tried_before: HashMap<Slot, Tried>,
    /// Not before, iteration, what it has behind it: the earliest first.
    retries: BinaryHeap<Reverse<(i64, Slot, Tried)>>,
    /// The iteration that is next once something can be set aside for it.
    held_back: Option<(Slot, Tried)>,
    budget: Budget,
    workers: BTreeMap<String, Worker>,
    running: HashMap<AttemptId, Running>,
    next_epoch: u64,
    /// How many may run at once for now; shrinks when the model asks for less.
    allowed: u32,
    paused_until_ms: i64,
    good_conclusions: u32,
    stopping: bool,
    planned_out: bool,
}

impl State {
    /// A schedule that starts at `now_ms`. `finished` and `tried` are what an earlier process of the same run left.
    ///
    /// Epochs start at the time, so that they grow over restarts.
    pub fn new(
        plan: Plan,
        settings: Settings,
        finished: HashSet<Slot>,
        tried: HashMap<Slot, Tried>,
        now_ms: i64,
    ) -> Self {
        Self {
            allowed: settings.concurrency.max(1),
            settings,
            plan,
            finished_before: finished,
            tried_before: tried,
            retries: BinaryHeap::new(),
            held_back: None,
            budget: Budget::default(),
            workers: BTreeMap::new(),
            running: HashMap::new(),
            next_epoch: u64::try_from(now_ms).unwrap_or(0).saturating_add(1),
            paused_until_ms: 0,
            good_conclusions: 0,
            stopping: false,
            planned_out: false,
        }
    }

    /// What is left of the run's limits.
    #[must_use]
    pub fn within(mut self, budget: Budget) -> Self {
        self.budget = budget;
        self
    }

    /// What is set aside for an attempt that runs.
    pub fn reserved_for(&self, attempt: &AttemptId) -> Reserved {
        self.budget.reserved_for(attempt)
    }

    /// Tells what a running attempt has used, before its conclusion, and whether it was refused more.
    pub fn settle(&mut self, attempt: &AttemptId, spent: Spent, ran_out: bool) {
        self.budget.settle(attempt, spent, ran_out);
    }

    /// The part of the run's places that the worker has: its own, and all of them.
    pub fn places(&self, worker: &str) -> (u32, u32) {
        let all = self
            .workers
            .values()
            .fold(0, |sum: u32, worker| sum.saturating_add(worker.slots));
        let own = self.workers.get(worker).map_or(0, |worker| worker.slots);
        // Workers that are still to come have their part as well.
        (own, all.max(self.settings.concurrency))
    }

    /// A worker is there and has `slots` places.
    pub fn join(&mut self, worker: &str, slots: u32) {
        self.workers.insert(worker.to_owned(), Worker { slots, leaving: false });
    }

    /// A worker takes no more assignments.
    pub fn leaving(&mut self, worker: &str) {
        if let Some(worker) = self.workers.get_mut(worker) {
            worker.leaving = true;
        }
    }

    /// A worker is gone: all that it ran is lost.
    pub fn leave(&mut self, worker: &str, reason: &str) -> Vec<Effect> {
        self.workers.remove(worker);
        self.lose(|running| running.worker == worker, |_| reason.to_owned())
    }

    /// A worker renews its leases.
    pub fn heartbeat(&mut self, leases: &[Lease], now_ms: i64) {
        for lease in leases {
            if let Some(running) = self.running.get_mut(&lease.attempt)
                && running.epoch == lease.epoch
            {
                running.expires_ms = now_ms + self.settings.lease_ms;
            }
        }
    }

    /// Takes back leases that were not renewed in time.
    pub fn expire(&mut self, now_ms: i64) -> Vec<Effect> {
        let lease_ms = self.settings.lease_ms;
        self.lose(
            |running| running.expires_ms <= now_ms,
            |running| {
                format!(
                    "the worker {} did not renew its lease within {lease_ms} ms",
                    running.worker
                )
            },
        )
    }

    fn lose(&mut self, which: impl Fn(&Running) -> bool, why: impl Fn(&Running) -> String) -> Vec<Effect> {
        let mut lost: Vec<(&AttemptId, &Running)> = self.running.iter().filter(|(_, running)| which(running)).collect();
        lost.sort_by_key(|(_, running)| (running.slot, running.attempt));
        lost.into_iter()
            .map(|(attempt, running)| Effect::Lost {
                worker: running.worker.clone(),
                lease: Lease {
                    attempt: attempt.clone(),
                    epoch: running.epoch,
                },
                reason: why(running),
            })
            .collect()
    }

    /// Nothing of the attempt runs any more, only its result is still to come: its slot is free.
    pub fn vacate(&mut self, lease: &Lease) {
        if let Some(running) = self.running.get_mut(&lease.attempt)
            && running.epoch == lease.epoch
        {
            running.seated = false;
        }
    }

    /// Whether the lease is the current one of a running attempt.
    pub fn holds(&self, lease: &Lease) -> bool {
        self.running
            .get(&lease.attempt)
            .is_some_and(|running| running.epoch == lease.epoch)
    }

    /// An attempt has its verdict. Only the current lease's counts.
    pub fn conclude(&mut self, lease: &Lease, verdict: &Verdict, now_ms: i64) -> Conclusion {
        if !self.holds(lease) {
            return Conclusion::Late;
        }
        let Some(Running {
            slot, attempt, spent, ..
        }) = self.running.remove(&lease.attempt)
        else {
            return Conclusion::Late;
        };
        if matches!(verdict.outcome, Outcome::Passed | Outcome::Failed(_)) {
            self.grow();
        }
        // Where nothing is limited, no more can be set aside: somebody else's limit is a fault like others.
        let next = match &verdict.next {
            Next::WithMore if !self.budget.limits_anything() => &Next::Again { slower: None },
            next => next,
        };
        let last = match next {
            Next::Stands => verdict.outcome != Outcome::Aborted,
            Next::StopDispatch(_) => {
                self.stopping = true;
                false
            }
            Next::WithMore => {
                let tried = Tried {
                    attempts: attempt,
                    spent,
                };
                self.retries.push(Reverse((now_ms, slot, tried)));
                false
            }
            Next::Again { slower } => {
                let spent = spent + 1;
                let doublings = spent.saturating_sub(1).min(10);
                let backoff = (FIRST_BACKOFF_MS << doublings).min(LONGEST_BACKOFF_MS);
                let mut not_before = now_ms + backoff;
                if let Some(asked) = slower {
                    not_before = not_before.max(now_ms + i64::try_from(*asked).unwrap_or(i64::MAX / 2));
                    self.shrink(not_before);
                }
                let last = spent >= self.settings.max_attempts;
                if !last {
                    self.retries.push(Reverse((
                        not_before,
                        slot,
                        Tried {
                            attempts: attempt,
                            spent,
                        },
                    )));
                }
                last
            }
        };
        Conclusion::Accepted { slot, attempt, last }
    }

    fn grow(&mut self) {
        self.good_conclusions += 1;
        if self.good_conclusions >= GROW_AFTER && self.allowed < self.settings.concurrency {
            self.allowed += 1;
            self.good_conclusions = 0;
        }
    }

    fn shrink(&mut self, paused_until_ms: i64) {
        self.allowed = (self.allowed / 2).max(1);
        self.good_conclusions = 0;
        self.paused_until_ms = self.paused_until_ms.max(paused_until_ms);
    }

    /// Gives out nothing more; what runs goes on.
    pub fn stop(&mut self) {
        self.stopping = true;
    }

    /// Gives out nothing more and kills what runs.
    pub fn cancel(&mut self) -> Vec<Effect> {
        self.stopping = true;
        let mut running: Vec<(&AttemptId, &Running)> = self.running.iter().collect();
        running.sort_by_key(|(_, running)| (running.slot, running.attempt));
        running
            .into_iter()
            .map(|(attempt, running)| Effect::Cancel {
                worker: running.worker.clone(),
                lease: Lease {
                    attempt: attempt.clone(),
                    epoch: running.epoch,
                },
            })
            .collect()
    }

    /// Hands out what may run now.
    pub fn dispatch(&mut self, now_ms: i64) -> Vec<Effect> {
        let mut effects = Vec::new();
        while !self.stopping && now_ms >= self.paused_until_ms && self.has_room() {
            let Some(worker) = self.freest_worker() else { break };
            let Some((slot, tried)) = self.next_waiting(now_ms) else {
                break;
            };
            let attempt = tried.attempts + 1;
            let lease = Lease {
                attempt: attempt_id(slot, attempt),
                epoch: self.next_epoch,
            };
            if let Err(short) = self.budget.reserve(&lease.attempt) {
                self.held_back = Some((slot, tried));
                // What still waits for its result has its part set aside, so nothing runs when a limit is reached.
                if let Short::Reached { limit, spent } = short {
                    self.stopping = true;
                    effects.push(Effect::OutOfBudget { limit, spent });
                }
                break;
            }
            self.next_epoch += 1;
            self.running.insert(
                lease.attempt.clone(),
                Running {
                    slot,
                    attempt,
                    spent: tried.spent,
                    epoch: lease.epoch,
                    worker: worker.clone(),
                    expires_ms: now_ms + self.settings.lease_ms,
                    seated: true,
                },
            );
            effects.push(Effect::Assign {
                worker,
                slot,
                attempt,
                lease,
            });
        }
        effects
    }

    /// Attempts without a slot are bounded as well, so that a slow disk holds the run up and does not fill the memory.
    fn has_room(&self) -> bool {
        let allowed = self.allowed as usize;
        let seated = self.running.values().filter(|running| running.seated).count();
        seated < allowed && self.running.len() - seated < allowed
    }

    fn freest_worker(&self) -> Option<String> {
        self.workers
            .iter()
            .filter(|(_, worker)| !worker.leaving)
            .map(|(name, worker)| {
                let used = self
                    .running
                    .values()
                    .filter(|running| running.seated && &running.worker == name)
                    .count();
                (i64::from(worker.slots) - i64::try_from(used).unwrap_or(i64::MAX), name)
            })
            .filter(|(free, _)| *free > 0)
            .max_by_key(|(free, name)| (*free, Reverse(*name)))
            .map(|(_, name)| name.clone())
    }

    /// A retry whose time has come goes before anything new: its iteration is the oldest.
    fn next_waiting(&mut self, now_ms: i64) -> Option<(Slot, Tried)> {
        if let Some(next) = self.held_back.take() {
            return Some(next);
        }
        if self
            .retries
            .peek()
            .is_some_and(|Reverse((not_before, ..))| *not_before <= now_ms)
        {
            return self.retries.pop().map(|Reverse((_, slot, tried))| (slot, tried));
        }
        for slot in self.plan.by_ref() {
            if self.finished_before.remove(&slot) {
                continue;
            }
            return Some((slot, self.tried_before.remove(&slot).unwrap_or_default()));
        }
        self.planned_out = true;
        None
    }

    /// When something waits only for time: the earliest moment at which [`State::dispatch`] may have work.
    pub fn wakes_at(&self) -> Option<i64> {
        let retry = self.retries.peek().map(|Reverse((not_before, ..))| *not_before);
        let earliest = match (retry, self.planned_out) {
            (retry, true) => retry?,
            (_, false) => self.paused_until_ms,
        };
        Some(earliest.max(self.paused_until_ms))
    }

    /// Whether nothing runs and nothing more will be given out.
    pub fn is_done(&self) -> bool {
        self.running.is_empty()
            && (self.stopping || (self.planned_out && self.retries.is_empty() && self.held_back.is_none()))
    }

    /// Attempts that run now, those without a slot included.
    pub fn running(&self) -> usize {
        self.running.len()
    }
}

/// The name of an attempt.
pub fn attempt_id(slot: Slot, attempt: u32) -> AttemptId {
    AttemptId::new(format!("{}-{}-{attempt}", slot.cell, slot.iteration))
}

/// The name of an iteration.
pub fn iteration_id(slot: Slot) -> IterationId {
    IterationId::new(format!("{}-{}", slot.cell, slot.iteration))
}

#[cfg(test)]
mod tests;
