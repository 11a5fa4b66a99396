//! What is left of a run's limits.

use mcproctor_proto::id::AttemptId;

use super::pot::{Pot, Room};
use super::settings::{Limit, Limits};

/// Tokens set aside for an attempt while none is known.
const GUESSED_TOKENS: u64 = 200_000;
/// US dollars set aside for an attempt while none is known.
const GUESSED_USD: f64 = 0.5;
/// Money is counted in billionths of a dollar.
const NANO: f64 = 1e9;

/// What is left of a run's limits. Without limits there is always room.
#[derive(Clone, Debug, Default)]
pub struct Budget {
    tokens: Option<Pot>,
    nano_usd: Option<Pot>,
}

/// What an attempt used.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Spent {
    /// Tokens read and written; `None` when nobody knows.
    pub tokens: Option<u64>,
    /// US dollars; `None` when nobody knows.
    pub cost_usd: Option<f64>,
}

/// What is set aside for an attempt; `None` where nothing is limited.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Reserved {
    /// Tokens read and written.
    pub tokens: Option<u64>,
    /// US dollars.
    pub cost_usd: Option<f64>,
}

/// Why nothing could be set aside.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Short {
    /// What runs has to tell first what it used.
    ForNow,
    /// The limit is reached.
    Reached {
        /// Which.
        limit: Limit,
        /// What is spent of it.
        spent: Limit,
    },
}

impl Budget {
    /// Nothing is spent yet.
    pub fn new(limits: &Limits) -> Self {
        Self {
            tokens: limits.max_tokens.map(|most| Pot::new(most, GUESSED_TOKENS)),
            nano_usd: limits.max_cost_usd.map(|most| Pot::new(nano(most), nano(GUESSED_USD))),
        }
    }

    /// An earlier process of the run spent this on an attempt.
    pub fn spend(&mut self, spent: Spent) {
        if let (Some(pot), Some(tokens)) = (&mut self.tokens, spent.tokens) {
            pot.spend(tokens);
        }
        if let (Some(pot), Some(usd)) = (&mut self.nano_usd, spent.cost_usd) {
            pot.spend(nano(usd));
        }
    }

    /// Sets something aside for an attempt.
    ///
    /// # Errors
    /// When there is not enough left, for now or for good.
    pub fn reserve(&mut self, attempt: &AttemptId) -> Result<(), Short> {
        let tokens = room(self.tokens.as_ref(), |tokens| Limit::Tokens { tokens })?;
        let nano_usd = room(self.nano_usd.as_ref(), |nano| Limit::Cost { usd: dollars(nano) })?;
        if let (Some(pot), Some(amount)) = (&mut self.tokens, tokens) {
            pot.reserve(attempt, amount);
        }
        if let (Some(pot), Some(amount)) = (&mut self.nano_usd, nano_usd) {
            pot.reserve(attempt, amount);
        }
        Ok(())
    }

    /// What is set aside for the attempt.
    pub fn reserved_for(&self, attempt: &AttemptId) -> Reserved {
        let of = |pot: &Option<Pot>| pot.as_ref().and_then(|pot| pot.reserved_for(attempt));
        Reserved {
            tokens: of(&self.tokens),
            cost_usd: of(&self.nano_usd).map(dollars),
        }
    }

    /// The attempt is over. What nobody knows of it counts as all that was set aside, because it may have used that.
    /// `ran_out` when it was refused more.
    pub fn settle(&mut self, attempt: &AttemptId, spent: Spent, ran_out: bool) {
        if let Some(pot) = &mut self.tokens {
            pot.settle(attempt, spent.tokens, ran_out);
        }
        if let Some(pot) = &mut self.nano_usd {
            pot.settle(attempt, spent.cost_usd.map(nano), ran_out);
        }
    }

    /// Whether anything is limited.
    pub fn limits_anything(&self) -> bool {
        self.tokens.is_some() || self.nano_usd.is_some()
    }
}

/// What one pot has for an attempt; `None` where there is no such limit.
fn room(pot: Option<&Pot>, limit: impl Fn(u64) -> Limit) -> Result<Option<u64>, Short> {
    let Some(pot) = pot else { return Ok(None) };
    match pot.room() {
        Room::For(amount) => Ok(Some(amount)),
        Room::Later => Err(Short::ForNow),
        Room::None => Err(Short::Reached {
            limit: limit(pot.limit()),
            spent: limit(pot.spent()),
        }),
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the cast saturates; amounts are not negative"
)]
fn nano(usd: f64) -> u64 {
    (usd * NANO).ceil() as u64
}

#[expect(clippy::cast_precision_loss, reason = "an amount needs no more than 15 digits")]
fn dollars(nano: u64) -> f64 {
    nano as f64 / NANO
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    fn id(n: u32) -> AttemptId {
        AttemptId::new(format!("0-{n}-1"))
    }

    fn spent(tokens: u64, usd: f64) -> Spent {
        Spent {
            tokens: Some(tokens),
            cost_usd: Some(usd),
        }
    }

    #[test]
    fn without_limits_there_is_always_room_and_nothing_is_set_aside() {
        let mut budget = Budget::new(&Limits::default());
        for n in 0..1_000 {
            assert_eq!(budget.reserve(&id(n)), Ok(()));
        }
        assert_eq!(budget.reserved_for(&id(1)), Reserved::default());
        budget.settle(&id(1), spent(u64::MAX, 1e9), false);
        assert_eq!(budget.reserve(&id(1)), Ok(()));
    }

    #[test]
    fn both_limits_hold_and_the_one_that_is_reached_is_named() {
        let mut budget = Budget::new(&Limits {
            max_tokens: Some(1_000_000),
            max_cost_usd: Some(0.02),
            requests_per_minute: None,
        });
        budget.reserve(&id(1)).unwrap();
        let reserved = budget.reserved_for(&id(1));
        assert_eq!(reserved.tokens, Some(GUESSED_TOKENS));
        assert_eq!(reserved.cost_usd, Some(0.02), "all there is");
        assert_eq!(budget.reserve(&id(2)), Err(Short::ForNow));
        assert_eq!(
            budget.reserved_for(&id(2)),
            Reserved::default(),
            "no half of it is set aside"
        );
        budget.settle(&id(1), spent(10, 0.015), false);
        assert_eq!(
            budget.reserve(&id(2)),
            Err(Short::Reached {
                limit: Limit::Cost { usd: 0.02 },
                spent: Limit::Cost { usd: 0.015 },
            })
        );
    }

    #[test]
    fn what_an_earlier_process_spent_counts_and_is_a_measure() {
        let mut budget = Budget::new(&Limits {
            max_tokens: Some(100),
            ..Limits::default()
        });
        budget.spend(spent(20, 0.0));
        budget.spend(Spent::default());
        budget.reserve(&id(1)).unwrap();
        assert_eq!(budget.reserved_for(&id(1)).tokens, Some(40));
    }

    #[test]
    fn a_cost_that_nobody_knows_counts_as_all_that_was_set_aside() {
        let mut budget = Budget::new(&Limits {
            max_cost_usd: Some(1.0),
            ..Limits::default()
        });
        budget.reserve(&id(1)).unwrap();
        budget.settle(
            &id(1),
            Spent {
                tokens: Some(5),
                cost_usd: None,
            },
            false,
        );
        assert_eq!(budget.reserve(&id(2)), Ok(()), "as usual as half of all");
        assert_eq!(budget.reserved_for(&id(2)).cost_usd, Some(0.5));
    }
}
