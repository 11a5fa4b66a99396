//! The attempts that a gateway knows. Pure: every time is handed in.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use mcproctor_proto::id::{AttemptId, RunId};
use mcproctor_proto::lease_token::Claims;

use super::super::ledger::Ledger;
use super::super::pace::Lane;
use super::super::purse::Purse;

/// Seconds between two looks for attempts that can be forgotten.
const SWEEP_S: u64 = 30;

/// The account of every attempt whose token has not expired.
#[derive(Debug, Default)]
pub(super) struct Leases {
    known: BTreeMap<(RunId, AttemptId), Held>,
    /// The lane of each run of which an attempt is known.
    runs: BTreeMap<RunId, Lane>,
    swept_at: u64,
}

/// Where a request belongs.
#[derive(Clone, Debug)]
pub(super) struct Account {
    pub(super) ledger: Arc<Mutex<Ledger>>,
    /// What the attempt may use.
    pub(super) purse: Arc<Purse>,
    /// Where requests of the attempt wait.
    pub(super) attempt: Lane,
    /// Where those of its run do.
    pub(super) run: Lane,
}

/// The account of one attempt.
#[derive(Clone, Debug)]
pub(super) struct Held {
    /// The newest epoch that was shown.
    pub(super) epoch: u64,
    /// The entry that its token names.
    pub(super) model: String,
    /// When the last of its tokens expires, in seconds since 1970.
    pub(super) expires_at_unix_s: u64,
    pub(super) account: Account,
}

/// The attempt was given out anew since.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Superseded;

impl Leases {
    /// The account that a request with these claims goes on. The first token of a newer epoch begins a new one, and ends the
    /// older epoch's right to ask.
    pub(super) fn account_of(
        &mut self,
        claims: &Claims,
        now_unix_s: u64,
        open: impl FnOnce() -> (Ledger, Purse),
    ) -> Result<Account, Superseded> {
        self.forget_expired(now_unix_s);
        let run = Arc::clone(self.runs.entry(claims.run.clone()).or_default());
        let open = || {
            let (ledger, purse) = open();
            Account {
                ledger: Arc::new(Mutex::new(ledger)),
                purse: Arc::new(purse),
                attempt: Lane::default(),
                run,
            }
        };
        let name = (claims.run.clone(), claims.lease.attempt.clone());
        let expires_at_unix_s = claims.expires_at_unix_s;
        match self.known.get_mut(&name) {
            Some(held) if claims.lease.epoch < held.epoch => Err(Superseded),
            Some(held) => {
                held.expires_at_unix_s = held.expires_at_unix_s.max(expires_at_unix_s);
                if claims.lease.epoch > held.epoch {
                    held.epoch = claims.lease.epoch;
                    held.model.clone_from(&claims.model);
                    held.account = open();
                }
                Ok(held.account.clone())
            }
            None => {
                let held = Held {
                    epoch: claims.lease.epoch,
                    model: claims.model.clone(),
                    expires_at_unix_s,
                    account: open(),
                };
                let account = held.account.clone();
                self.known.insert(name, held);
                Ok(account)
            }
        }
    }

    /// Forgets those whose tokens are refused anyway; what is still open on their account goes on.
    fn forget_expired(&mut self, now_unix_s: u64) {
        if now_unix_s.abs_diff(self.swept_at) >= SWEEP_S {
            self.swept_at = now_unix_s;
            self.known.retain(|_, held| now_unix_s < held.expires_at_unix_s);
            let known = &self.known;
            self.runs.retain(|run, _| {
                known
                    .range((run.clone(), AttemptId::new(""))..)
                    .next()
                    .is_some_and(|((of, _), _)| of == run)
            });
        }
    }

    /// Every attempt that is known.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&RunId, &AttemptId, &Held)> {
        self.known.iter().map(|((run, attempt), held)| (run, attempt, held))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::time::{Duration, Instant};

    use mcproctor_proto::allowance::Allowance;
    use mcproctor_proto::id::Lease;

    use super::*;

    fn claims(run: &str, attempt: &str, epoch: u64, expires_at_unix_s: u64) -> Claims {
        Claims {
            run: RunId::new(run),
            lease: Lease {
                attempt: AttemptId::new(attempt),
                epoch,
            },
            model: "m".to_owned(),
            tokens: None,
            cost: None,
            expires_at_unix_s,
        }
    }

    fn opened() -> (Ledger, Purse) {
        let ledger = Ledger::new(Duration::from_secs(10), Instant::now());
        (ledger, Purse::of_attempt(&Allowance::default()))
    }

    #[test]
    fn a_renewed_token_goes_on_the_same_account_and_other_attempts_have_their_own() {
        let mut leases = Leases::default();
        let mut account = |run, attempt, expires| {
            let claims = claims(run, attempt, 7, expires);
            leases.account_of(&claims, 1_000, opened).unwrap().ledger
        };
        let first = account("r", "1-1-1", 1_100);
        assert!(Arc::ptr_eq(&first, &account("r", "1-1-1", 1_200)));
        assert!(!Arc::ptr_eq(&first, &account("r", "1-1-2", 1_100)));
        assert!(!Arc::ptr_eq(&first, &account("s", "1-1-1", 1_100)));
    }

    #[test]
    fn attempts_of_a_run_share_a_lane_and_those_of_another_have_theirs() {
        let mut leases = Leases::default();
        let mut account = |run, attempt| {
            leases
                .account_of(&claims(run, attempt, 7, 1_100), 1_000, opened)
                .unwrap()
        };
        let (first, second, other) = (account("r", "1-1-1"), account("r", "1-1-2"), account("s", "1-1-1"));
        assert!(Arc::ptr_eq(&first.run, &second.run) && !Arc::ptr_eq(&first.attempt, &second.attempt));
        assert!(!Arc::ptr_eq(&first.run, &other.run));
        leases.forget_expired(1_050);
        assert_eq!(leases.runs.len(), 2);
        leases.forget_expired(1_100);
        assert_eq!(leases.runs.len(), 0);
    }

    #[test]
    fn a_newer_epoch_has_a_new_account_and_ends_the_older_one() {
        let mut leases = Leases::default();
        let mut account = |epoch| {
            let account = leases.account_of(&claims("r", "a", epoch, 2_000), 1_000, opened);
            account.map(|account| account.ledger)
        };
        let old = account(7).unwrap();
        let new = account(8).unwrap();
        assert!(!Arc::ptr_eq(&old, &new));
        assert_eq!(account(7).unwrap_err(), Superseded);
        assert!(Arc::ptr_eq(&new, &account(8).unwrap()));
    }

    #[test]
    fn ten_thousand_attempts_that_have_expired_take_no_room() {
        let mut leases = Leases::default();
        for second in 0..10_000 {
            let claims = claims("r", &second.to_string(), 1, second + 60);
            leases.account_of(&claims, second, opened).unwrap();
        }
        assert!(leases.iter().count() <= 60 + SWEEP_S as usize + 1);
        // The newest epoch stays known as long as an older token could still be shown.
        leases.account_of(&claims("r", "x", 5, 11_000), 10_000, opened).unwrap();
        let late = leases.account_of(&claims("r", "x", 4, 10_999), 10_998, opened);
        assert_eq!(late.unwrap_err(), Superseded);
    }
}
