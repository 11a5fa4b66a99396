//! The ledger by an artificial clock.

use super::super::tally::MODEL_CAP;
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
        self.end_with(id, end, Told::default(), second);
    }

    fn end_with(&mut self, id: RequestId, end: End, told: Told, second: u64) {
        let used = Used {
            told,
            ..Used::default()
        };
        self.ledger.end(id, end, &used, self.at(second));
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
    clocked.ledger.ask(clocked.at(9));
    assert_eq!(clocked.ledger.open_requests(), 0);
    assert_eq!(clocked.ledger.last_activity(), clocked.at(9));
}

#[test]
fn a_request_that_is_held_back_waits_whole_also_while_it_is_held_and_when_the_agent_leaves() {
    let mut clocked = Clocked::new();
    let id = clocked.begin(0);
    clocked.ledger.hold(id, clocked.at(0));
    assert_eq!(clocked.waited(3), 3, "shorter than a silence, and counted");
    clocked.ledger.release(id, clocked.at(5));
    clocked.byte(id, 9);
    clocked.end(id, succeeded(), 10);
    let gone = clocked.begin(20);
    clocked.ledger.hold(gone, clocked.at(20));
    clocked.end(gone, End::Left { answered: false }, 22);
    let traffic = clocked.ledger.traffic(clocked.at(60));
    assert_eq!((traffic.waiting_ms, traffic.held_ms), (7_000, 7_000));
}

#[test]
fn a_request_that_was_not_sent_is_counted_apart_and_used_nothing() {
    let mut clocked = Clocked::new();
    let id = clocked.begin(0);
    clocked.end(id, End::Limited, 0);
    let traffic = clocked.ledger.traffic(clocked.at(1));
    assert_eq!((traffic.limited_requests, traffic.requests_without_usage), (1, 0));
    assert_eq!((traffic.succeeded, traffic.refusal), (0, None));
}

#[test]
fn models_without_end_fill_no_memory_and_lose_no_tokens() {
    let mut clocked = Clocked::new();
    for n in 0..3 * MODEL_CAP {
        let id = clocked.begin(0);
        let told = Told {
            model: Some(format!("m-{n}")),
            tokens: Some(Tokens {
                output_tokens: 1,
                ..Tokens::default()
            }),
            ..Told::default()
        };
        clocked.end_with(id, succeeded(), told, 1);
    }
    let traffic = clocked.ledger.traffic(clocked.at(1));
    assert!(traffic.usage.len() <= MODEL_CAP + 1, "{}", traffic.usage.len());
    assert_eq!(traffic.tokens().output_tokens, 3 * MODEL_CAP as u64);
}
