//! What all requests share.

use crate::conversation::Conversation;
use crate::director::{self, Decision};
use crate::ledger::Ledger;
use crate::record::RequestRecord;
use crate::scenario::Scenarios;
use std::collections::VecDeque;
use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};
use tokio_util::sync::CancellationToken;

/// Requests remembered at most; the oldest go first.
const REMEMBERED: usize = 10_000;

/// Told of every request.
pub(super) type Observer = Box<dyn FnMut(&RequestRecord) + Send>;

/// The scenarios, what has happened so far, and the word to stop.
pub(super) struct Shared {
    pub(super) scenarios: Scenarios,
    pub(super) stopped: CancellationToken,
    ledger: Mutex<Ledger>,
    log: Mutex<VecDeque<RequestRecord>>,
    observer: Mutex<Observer>,
}

impl fmt::Debug for Shared {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Shared").finish_non_exhaustive()
    }
}

impl Shared {
    pub(super) fn new(scenarios: Scenarios, observer: Observer) -> Self {
        Self {
            scenarios,
            stopped: CancellationToken::new(),
            ledger: Mutex::default(),
            log: Mutex::default(),
            observer: Mutex::new(observer),
        }
    }

    pub(super) fn decide(&self, conversation: &Conversation) -> Decision {
        director::decide(&self.scenarios, &mut lock(&self.ledger), conversation)
    }

    pub(super) fn record(&self, record: RequestRecord) {
        lock(&self.observer)(&record);
        let mut log = lock(&self.log);
        if log.len() == REMEMBERED {
            log.pop_front();
        }
        log.push_back(record);
    }

    pub(super) fn requests(&self) -> Vec<RequestRecord> {
        lock(&self.log).iter().cloned().collect()
    }
}

/// A panic of an observer must not take the endpoint with it.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
