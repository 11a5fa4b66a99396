//! What the model's side of an attempt comes to. Pure: every time is handed in.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use mcproctor_proto::traffic::{ModelRefusal, ModelTraffic, RefusalKind};

use super::endpoint::Purpose;

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
}

/// Keeps account of requests, refusals and waits.
///
/// Waiting is the union of two kinds of span, so that requests side by side do not count twice:
/// from the start of a request that was refused for the time being to the start of the next one that was not, which
/// takes in the agent's own backoff; and every gap longer than `silence` in which the agent waited for a byte.
#[derive(Debug)]
pub(super) struct Ledger {
    silence: Duration,
    next: u64,
    open: BTreeMap<RequestId, Open>,
    requests: u32,
    succeeded: u32,
    blocked: u32,
    waits: Spans,
    /// Start of the first refused request after which none has been answered yet.
    refused_since: Option<Instant>,
    /// Starts of answered requests that a request still open may turn out to have come before.
    answered: Vec<Instant>,
    /// The refusal that stands, and the start of its request.
    refusal: Option<(Instant, ModelRefusal)>,
    response_model: Option<String>,
    last_activity: Instant,
}

#[derive(Debug)]
struct Open {
    purpose: Purpose,
    start: Instant,
    /// Since when the agent has waited for a byte; `None` while it has yet to take what is there.
    waiting_since: Option<Instant>,
}

impl Ledger {
    pub(super) fn new(silence: Duration, now: Instant) -> Self {
        Self {
            silence,
            next: 0,
            open: BTreeMap::new(),
            requests: 0,
            succeeded: 0,
            blocked: 0,
            waits: Spans::default(),
            refused_since: None,
            answered: Vec::new(),
            refusal: None,
            response_model: None,
            last_activity: now,
        }
    }

    /// The agent asked for something that is not passed on.
    pub(super) fn block(&mut self, now: Instant) {
        self.last_activity = now;
        self.blocked = self.blocked.saturating_add(1);
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
            },
        );
        id
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

    /// A request ended.
    pub(super) fn end(&mut self, id: RequestId, end: End, now: Instant) {
        self.byte(id, now);
        let Some(open) = self.open.remove(&id) else { return };
        if open.purpose == Purpose::Completion {
            match end {
                End::Succeeded { model } => {
                    self.succeeded = self.succeeded.saturating_add(1);
                    self.response_model = model.or(self.response_model.take());
                    self.refusal.take_if(|(start, _)| *start <= open.start);
                    self.answered(open.start);
                }
                End::Left { answered: true } => self.answered(open.start),
                End::Left { answered: false } => {}
                End::Refused(refusal) => self.refused(open.start, refusal),
            }
        }
        let oldest = self.open.values().map(|open| open.start).min();
        self.answered
            .retain(|start| oldest.is_some_and(|oldest| oldest < *start));
    }

    fn answered(&mut self, start: Instant) {
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
            waiting_ms: u64::try_from(waits.total().as_millis()).unwrap_or(u64::MAX),
            refusal: self.refusal.as_ref().map(|(_, refusal)| refusal.clone()),
            response_model: self.response_model.clone(),
        }
    }

    /// Requests that have not ended.
    pub(super) fn open_requests(&self) -> usize {
        self.open.len()
    }

    /// Requests that were not passed on.
    pub(super) fn blocked(&self) -> u32 {
        self.blocked
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

/// Spans of time without overlaps, in order.
#[derive(Clone, Debug, Default)]
struct Spans(Vec<(Instant, Instant)>);

impl Spans {
    fn add(&mut self, mut from: Instant, mut to: Instant) {
        if from >= to {
            return;
        }
        self.0.retain(|&(start, end)| {
            let apart = end < from || to < start;
            if !apart {
                from = from.min(start);
                to = to.max(end);
            }
            apart
        });
        let at = self.0.partition_point(|&(start, _)| start < from);
        self.0.insert(at, (from, to));
    }

    fn total(&self) -> Duration {
        self.0.iter().map(|&(start, end)| end - start).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Clocked {
        ledger: Ledger,
        zero: Instant,
    }

    impl Clocked {
        fn new() -> Self {
            let zero = Instant::now();
            Self {
                ledger: Ledger::new(Duration::from_secs(10), zero),
                zero,
            }
        }

        fn at(&self, second: u64) -> Instant {
            self.zero + Duration::from_secs(second)
        }

        fn begin(&mut self, second: u64) -> RequestId {
            self.ledger.begin(Purpose::Completion, self.at(second))
        }

        fn byte(&mut self, id: RequestId, second: u64) {
            self.ledger.byte(id, self.at(second));
            self.ledger.wait(id, self.at(second));
        }

        fn end(&mut self, id: RequestId, end: End, second: u64) {
            self.ledger.end(id, end, self.at(second));
        }

        fn waited(&self, second: u64) -> u64 {
            self.ledger.traffic(self.at(second)).waiting_ms / 1000
        }
    }

    fn succeeded() -> End {
        End::Succeeded {
            model: Some("m-1".to_owned()),
        }
    }

    fn refused(status: u16) -> End {
        End::Refused(ModelRefusal {
            status,
            code: None,
            message: "no".to_owned(),
            retry_after_ms: None,
        })
    }

    #[test]
    fn a_refusal_costs_until_the_request_that_gets_over_it_starts() {
        let mut clocked = Clocked::new();
        let first = clocked.begin(0);
        clocked.end(first, refused(429), 1);
        assert_eq!(clocked.waited(5), 5, "the agent's backoff is running");
        let second = clocked.begin(8);
        clocked.end(second, refused(529), 9);
        let third = clocked.begin(20);
        assert_eq!(clocked.waited(23), 20, "what the third comes to is open");
        clocked.byte(third, 22);
        clocked.end(third, succeeded(), 25);
        let traffic = clocked.ledger.traffic(clocked.at(60));
        assert_eq!(traffic.waiting_ms, 20_000);
        assert_eq!((traffic.requests, traffic.succeeded), (3, 1));
        assert_eq!(traffic.refusal, None, "the agent got over it");
        assert_eq!(traffic.response_model.as_deref(), Some("m-1"));
    }

    #[test]
    fn a_refusal_that_nothing_got_over_stands() {
        let mut clocked = Clocked::new();
        let first = clocked.begin(0);
        clocked.end(first, succeeded(), 1);
        let second = clocked.begin(2);
        clocked.end(second, refused(500), 3);
        let traffic = clocked.ledger.traffic(clocked.at(4));
        assert_eq!(traffic.refusal.map(|refusal| refusal.status), Some(500));
        assert_eq!(traffic.waiting_ms, 2_000);
    }

    #[test]
    fn silence_counts_whole_once_it_is_longer_than_allowed() {
        let mut clocked = Clocked::new();
        let id = clocked.begin(0);
        clocked.byte(id, 9);
        assert_eq!(clocked.waited(18), 0, "nine seconds twice is the model thinking");
        assert_eq!(clocked.waited(20), 11);
        clocked.byte(id, 40);
        clocked.byte(id, 45);
        clocked.end(id, succeeded(), 46);
        assert_eq!(clocked.waited(100), 31);
    }

    #[test]
    fn an_agent_that_does_not_read_is_not_waiting_for_the_model() {
        let mut clocked = Clocked::new();
        let id = clocked.begin(0);
        clocked.ledger.byte(id, clocked.at(1));
        assert_eq!(clocked.waited(60), 0);
        clocked.ledger.wait(id, clocked.at(60));
        clocked.byte(id, 61);
        clocked.end(id, succeeded(), 62);
        assert_eq!(clocked.waited(62), 0);
    }

    #[test]
    fn waits_side_by_side_count_once() {
        let mut clocked = Clocked::new();
        let silent = clocked.begin(0);
        let limited = clocked.begin(5);
        clocked.end(limited, refused(429), 6);
        let retry = clocked.begin(15);
        clocked.byte(silent, 20);
        clocked.end(retry, succeeded(), 17);
        clocked.end(silent, succeeded(), 21);
        assert_eq!(clocked.waited(30), 20);
    }

    #[test]
    fn a_request_refused_late_waited_only_until_the_next_answered_one() {
        let mut clocked = Clocked::new();
        let slow = clocked.begin(0);
        let quick = clocked.begin(3);
        clocked.end(quick, succeeded(), 4);
        clocked.end(slow, refused(503), 9);
        assert_eq!(clocked.waited(50), 3);
        let standing = clocked.ledger.traffic(clocked.at(50)).refusal;
        assert!(standing.is_some(), "no success came after it");
    }

    #[test]
    fn a_request_that_the_agent_gave_up_ends_a_wait_only_if_it_was_being_answered() {
        let mut clocked = Clocked::new();
        let first = clocked.begin(0);
        clocked.end(first, refused(429), 1);
        let unanswered = clocked.begin(5);
        clocked.end(unanswered, End::Left { answered: false }, 6);
        assert_eq!(clocked.waited(8), 8);
        let answered = clocked.begin(10);
        clocked.end(answered, End::Left { answered: true }, 12);
        assert_eq!(clocked.waited(30), 10);
        assert!(clocked.ledger.traffic(clocked.at(30)).refusal.is_some());
    }

    #[test]
    fn side_requests_and_bad_requests_cost_no_waiting() {
        let mut clocked = Clocked::new();
        let count = clocked.ledger.begin(Purpose::Side, clocked.at(0));
        clocked.end(count, refused(429), 1);
        let traffic = clocked.ledger.traffic(clocked.at(9));
        assert_eq!((traffic.requests, traffic.waiting_ms, traffic.refusal), (0, 0, None));
        let long = clocked.begin(10);
        clocked.end(long, refused(400), 11);
        let traffic = clocked.ledger.traffic(clocked.at(30));
        assert_eq!((traffic.requests, traffic.waiting_ms), (1, 0));
        assert_eq!(traffic.refusal.map(|refusal| refusal.status), Some(400));
    }

    #[test]
    fn open_requests_and_activity_are_known() {
        let mut clocked = Clocked::new();
        let id = clocked.begin(3);
        assert_eq!(
            (clocked.ledger.open_requests(), clocked.ledger.last_activity()),
            (1, clocked.at(3))
        );
        clocked.byte(id, 7);
        assert_eq!(clocked.ledger.last_activity(), clocked.at(7));
        clocked.end(id, succeeded(), 8);
        clocked.ledger.block(clocked.at(9));
        assert_eq!((clocked.ledger.open_requests(), clocked.ledger.blocked()), (0, 1));
        assert_eq!(clocked.ledger.last_activity(), clocked.at(9));
    }
}
