//! One request while it is open: what is written down of it, and who is charged for it.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::asked::Asked;
use super::ledger::{End, Ledger, RequestId, Told};
use super::meant::Meant;
use super::purse::Ticket;
use super::server::now;
use super::untold::Used;

/// What both halves of a request share.
pub(super) struct Errand {
    ledger: Arc<Mutex<Ledger>>,
    id: RequestId,
    meant: Arc<Meant>,
    path: String,
    charged: Mutex<Charged>,
}

#[derive(Default)]
struct Charged {
    asked: Asked,
    tickets: Vec<Ticket>,
}

impl Errand {
    /// The request `id`, to an endpoint, of an agent that is meant to ask this.
    pub(super) fn new(ledger: Arc<Mutex<Ledger>>, id: RequestId, meant: Arc<Meant>, path: &str) -> Self {
        Self {
            ledger,
            id,
            meant,
            path: path.to_owned(),
            charged: Mutex::default(),
        }
    }

    /// What the request asks for, as far as it was read.
    pub(super) fn asked(&self) -> Asked {
        self.charged().asked.clone()
    }

    /// More was read of what the request asks for.
    pub(super) fn hear(&self, asked: &Asked) {
        let mut charged = self.charged();
        charged.asked.clone_from(asked);
        charged.tickets.iter().for_each(|ticket| ticket.hear(asked));
    }

    /// The tools that the request shows the model, and those that it holds back.
    pub(super) fn offer(&self, tools: BTreeSet<String>, deferred: BTreeSet<String>) {
        self.with(|ledger, id| ledger.offer(id, tools, deferred));
    }

    /// The request is sent, and these are for it.
    pub(super) fn charge(&self, tickets: Vec<Ticket>) {
        let mut charged = self.charged();
        let Charged { asked, tickets: kept } = &mut *charged;
        // More may have been read while there was no room yet.
        tickets.iter().for_each(|ticket| ticket.hear(asked));
        *kept = tickets;
    }

    pub(super) fn with(&self, act: impl FnOnce(&mut Ledger, RequestId)) {
        act(&mut self.ledger.lock().unwrap_or_else(PoisonError::into_inner), self.id);
    }

    fn end(&self, end: End, told: Told) {
        let (asked, tickets) = {
            let mut charged = self.charged();
            (charged.asked.clone(), std::mem::take(&mut charged.tickets))
        };
        let mut used = Used::new(&end, told, &asked);
        used.elsewhere = !self.meant.covers(&self.path, &asked);
        self.with(|ledger, id| ledger.end(id, end, &used, now()));
        tickets.into_iter().for_each(|ticket| ticket.settle(&used));
    }

    fn charged(&self) -> MutexGuard<'_, Charged> {
        self.charged.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The one who says how a request ended. Dropped before that, it says that the agent left.
pub(super) struct Entry {
    errand: Arc<Errand>,
    told: Told,
    pub(super) answered: bool,
    ended: bool,
}

impl Entry {
    pub(super) fn new(errand: Arc<Errand>) -> Self {
        Self {
            errand,
            told: Told::default(),
            answered: false,
            ended: false,
        }
    }

    /// The head of a response came.
    pub(super) fn head(&mut self, success: bool) {
        self.answered = success;
        self.errand.with(|ledger, id| ledger.byte(id, now()));
    }

    /// A piece of it came.
    pub(super) fn byte(&self) {
        self.errand.with(|ledger, id| ledger.byte(id, now()));
    }

    /// The agent has taken what was there and waits for more.
    pub(super) fn wait(&self) {
        self.errand.with(|ledger, id| ledger.wait(id, now()));
    }

    /// What the response has told of itself; the last word before the end counts.
    pub(super) fn told(&mut self, told: Told) {
        self.told = told;
    }

    /// The request ended.
    pub(super) fn end(&mut self, end: End) {
        if !std::mem::replace(&mut self.ended, true) {
            self.errand.end(end, std::mem::take(&mut self.told));
        }
    }
}

impl Drop for Entry {
    fn drop(&mut self) {
        let answered = self.answered;
        self.end(End::Left { answered });
    }
}
