//! What the model's side of an attempt comes to. Pure: every time is handed in.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use mcproctor_proto::tokens::Tokens;
use mcproctor_proto::traffic::{ModelRefusal, ModelTraffic, RefusalKind};

use super::endpoint::Purpose;
use super::offer::NAME_CAP;
use super::spans::Spans;
use super::tally::Tally;
use super::untold::Used;

#[cfg(test)]
mod tests;

/// A request on its way, within one relay.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct RequestId(u64);

/// How a request ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// Answered with success, to the end of the stream.
    Succeeded {
        /// The model that the response named.
        model: Option<String>,
    },
    /// Refused, failed, broken off by the API, or the API was not reached.
    Refused(ModelRefusal),
    /// The agent left. `answered` when the API had begun to answer with success by then.
    Left {
        /// Whether the head of a successful response had come.
        answered: bool,
    },
    /// It was refused on this side, because the attempt had used up what it may.
    Limited,
}

/// What a response has told of itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Told {
    /// The model that it named.
    pub(super) model: Option<String>,
    /// What it says was used; `None` when it does not say.
    pub(super) tokens: Option<Tokens>,
    /// Whether that is all that it will say: nothing that was used is left out of it.
    pub(super) whole: bool,
    /// Bytes of it that came, decoded.
    pub(super) bytes: u64,
}

/// Keeps account of requests, refusals and waits.
///
/// Waiting is the union of three kinds of span, so that requests side by side do not count twice:
/// from the start of a request that was refused for the time being to the start of the next one that was not, which
/// takes in the agent's own backoff; every gap longer than `silence` in which the agent waited for a byte; and whatever time
/// a request was held back.
#[derive(Debug)]
pub(super) struct Ledger {
    silence: Duration,
    next: u64,
    open: BTreeMap<RequestId, Open>,
    requests: u32,
    succeeded: u32,
    waits: Spans,
    /// Start of the first refused request after which none has been answered yet.
    refused_since: Option<Instant>,
    /// Starts of answered requests that a request still open may turn out to have come before.
    answered: Vec<Instant>,
    /// The refusal that stands, and the start of its request.
    refusal: Option<(Instant, ModelRefusal)>,
    /// Whether that was of something that the agent is not configured to ask.
    refusal_elsewhere: bool,
    response_model: Option<String>,
    /// Tools of requests that were answered.
    tools_sent: BTreeSet<String>,
    tools_deferred: BTreeSet<String>,
    usage: Tally,
    limited: u32,
    /// When requests were held back to keep to a rate.
    holds: Spans,
    last_activity: Instant,
}

#[derive(Debug)]
struct Open {
    purpose: Purpose,
    start: Instant,
    /// Since when the agent has waited for a byte; `None` while it has yet to take what is there.
    waiting_since: Option<Instant>,
    /// The tools that it shows the model.
    tools: BTreeSet<String>,
    /// The tools that it holds back.
    deferred: BTreeSet<String>,
    /// Since when it has been held back.
    held_since: Option<Instant>,
}

impl Ledger {
    pub(super) fn new(silence: Duration, now: Instant) -> Self {
        Self {
            silence,
            next: 0,
            open: BTreeMap::new(),
            requests: 0,
            succeeded: 0,
            waits: Spans::default(),
            refused_since: None,
            answered: Vec::new(),
            refusal: None,
            refusal_elsewhere: false,
            response_model: None,
            tools_sent: BTreeSet::new(),
            tools_deferred: BTreeSet::new(),
            usage: Tally::default(),
            limited: 0,
            holds: Spans::default(),
            last_activity: now,
        }
    }

    /// The agent asked for something that is not passed on.
    pub(super) fn ask(&mut self, now: Instant) {
        self.last_activity = now;
    }

    /// The agent sent a request that is passed on.
    pub(super) fn begin(&mut self, purpose: Purpose, now: Instant) -> RequestId {
        self.last_activity = now;
        if purpose == Purpose::Completion {
            self.requests = self.requests.saturating_add(1);
        }
        let id = RequestId(self.next);
        self.next += 1;
        self.open.insert(
            id,
            Open {
                purpose,
                start: now,
                waiting_since: Some(now),
                tools: BTreeSet::new(),
                deferred: BTreeSet::new(),
                held_since: None,
            },
        );
        id
    }

    /// A request that is open is held back to keep to a rate.
    pub(super) fn hold(&mut self, id: RequestId, now: Instant) {
        if let Some(open) = self.open.get_mut(&id) {
            open.held_since = Some(now);
        }
    }

    /// It is sent on; from now on the agent waits for the model.
    pub(super) fn release(&mut self, id: RequestId, now: Instant) {
        if let Some(open) = self.open.get_mut(&id)
            && let Some(since) = open.held_since.take()
        {
            open.waiting_since = Some(now);
            self.holds.add(since, now);
            self.waits.add(since, now);
        }
    }

    /// A request that is open shows the model these tools, and holds those back.
    pub(super) fn offer(&mut self, id: RequestId, tools: BTreeSet<String>, deferred: BTreeSet<String>) {
        if let Some(open) = self.open.get_mut(&id) {
            open.tools = tools;
            open.deferred = deferred;
        }
    }

    /// A head or a piece of a body came from the API.
    pub(super) fn byte(&mut self, id: RequestId, now: Instant) {
        self.last_activity = now;
        let silence = self.silence;
        if let Some(open) = self.open.get_mut(&id)
            && let Some(since) = open.waiting_since.take()
            && now.saturating_duration_since(since) > silence
        {
            self.waits.add(since, now);
        }
    }

    /// The agent has taken what was there and waits for more.
    pub(super) fn wait(&mut self, id: RequestId, now: Instant) {
        if let Some(open) = self.open.get_mut(&id) {
            open.waiting_since.get_or_insert(now);
        }
    }

    /// A request ended, and used this.
    pub(super) fn end(&mut self, id: RequestId, end: End, used: &Used, now: Instant) {
        self.release(id, now);
        self.byte(id, now);
        let Some(open) = self.open.remove(&id) else { return };
        if open.purpose == Purpose::Completion {
            self.usage.add(&used.told, used.untold.is_some());
            match end {
                End::Succeeded { model } => {
                    self.succeeded = self.succeeded.saturating_add(1);
                    self.response_model = model.or(self.response_model.take());
                    self.refusal.take_if(|(start, _)| *start <= open.start);
                    self.answered(open.start, open.tools, open.deferred);
                }
                End::Left { answered: true } => self.answered(open.start, open.tools, open.deferred),
                End::Left { answered: false } => {}
                End::Limited => self.limited = self.limited.saturating_add(1),
                End::Refused(refusal) => {
                    self.refusal_elsewhere = used.elsewhere;
                    self.refused(open.start, refusal);
                }
            }
        }
        let oldest = self.open.values().map(|open| open.start).min();
        self.answered
            .retain(|start| oldest.is_some_and(|oldest| oldest < *start));
    }

    fn answered(&mut self, start: Instant, tools: BTreeSet<String>, deferred: BTreeSet<String>) {
        let room = NAME_CAP.saturating_sub(self.tools_sent.len());
        self.tools_sent.extend(tools.into_iter().take(room));
        let room = NAME_CAP.saturating_sub(self.tools_deferred.len());
        self.tools_deferred.extend(deferred.into_iter().take(room));
        if let Some(since) = self.refused_since.take_if(|since| *since <= start) {
            self.waits.add(since, start);
        }
        self.answered.push(start);
    }

    fn refused(&mut self, start: Instant, refusal: ModelRefusal) {
        if waits_out(&refusal) {
            match self.answered.iter().copied().filter(|answered| *answered > start).min() {
                Some(next) => self.waits.add(start, next),
                None => self.refused_since = Some(self.refused_since.map_or(start, |since| since.min(start))),
            }
        }
        self.refusal = Some((start, refusal));
    }

    /// The account so far; what is still open counts up to `now`.
    pub(super) fn traffic(&self, now: Instant) -> ModelTraffic {
        let mut waits = self.waits.clone();
        if let Some(since) = self.refused_since {
            let completions = self.open.values().filter(|open| open.purpose == Purpose::Completion);
            let retry = completions.map(|open| open.start).filter(|start| *start > since).min();
            waits.add(since, retry.unwrap_or(now));
        }
        let mut holds = self.holds.clone();
        for since in self.open.values().filter_map(|open| open.held_since) {
            holds.add(since, now);
            waits.add(since, now);
        }
        for open in self.open.values() {
            if let Some(since) = open.waiting_since
                && now.saturating_duration_since(since) > self.silence
            {
                waits.add(since, now);
            }
        }
        ModelTraffic {
            observed: true,
            requests: self.requests,
            succeeded: self.succeeded,
            waiting_ms: waits.total_ms(),
            refusal: self.refusal.as_ref().map(|(_, refusal)| refusal.clone()),
            refusal_elsewhere: self.refusal.is_some() && self.refusal_elsewhere,
            response_model: self.response_model.clone(),
            tools_sent: self.tools_sent.iter().cloned().collect(),
            tools_deferred: self.tools_deferred.iter().cloned().collect(),
            usage: self.usage.by_model().cloned().collect(),
            requests_without_usage: self.usage.without_usage(),
            limited_requests: self.limited,
            held_ms: holds.total_ms(),
        }
    }

    /// Requests that have not ended.
    pub(super) fn open_requests(&self) -> usize {
        self.open.len()
    }

    /// When the agent last asked for something or the API last sent a byte.
    pub(super) fn last_activity(&self) -> Instant {
        self.last_activity
    }
}

/// Whether agents answer this refusal by waiting and asking again.
fn waits_out(refusal: &ModelRefusal) -> bool {
    refusal.kind() == RefusalKind::Transient || refusal.status == 429
}
