//! What may be used together: by the requests of an attempt, or by all who share a gateway.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use mcproctor_proto::allowance::Allowance;
use mcproctor_proto::price::Price;
use mcproctor_proto::tokens::Tokens;
use tokio::sync::Notify;
use tokio::sync::futures::OwnedNotified;

use super::asked::Asked;
use super::shut::Shut;
use super::tally::Tally;
use super::untold::Used;

/// The price of a model by the name under which it answered; `None` when it is not known.
pub type PriceOf = Arc<dyn Fn(&str) -> Option<Price> + Send + Sync>;

/// Requests of an attempt with a limit that are open at once; further ones wait.
const OPEN: usize = 16;
/// Those that wait at once; further ones are asked to come again.
pub(super) const WAITING: usize = 64;

/// What was used and may be in use, and its limits. Without limits it only counts.
///
/// A request that is open is charged what it may use, by an [estimate](Asked::most); what its answer tells takes the place of
/// that once it has ended. What nobody told by then stays charged.
pub(super) struct Purse {
    limits: Limits,
    price_of: PriceOf,
    state: Mutex<State>,
    /// Something was given back.
    changed: Arc<Notify>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Limits {
    tokens: Option<u64>,
    usd: Option<f64>,
    open: Option<usize>,
}

#[derive(Default)]
struct State {
    tally: Tally,
    /// What answers told.
    told: Amount,
    /// What those that did not tell may have used.
    untold: Amount,
    /// What those that are open may use.
    open: BTreeMap<u64, Amount>,
    next: u64,
    waiting: usize,
    /// Whether a model answered whose price is not known.
    unpriced: bool,
}

/// Tokens and what they cost.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Amount {
    pub(super) tokens: u64,
    /// US dollars; 0 for those without a known price.
    pub(super) usd: f64,
}

impl Amount {
    fn plus(self, other: Self) -> Self {
        Self {
            tokens: self.tokens.saturating_add(other.tokens),
            usd: self.usd + other.usd,
        }
    }
}

/// Why a request may not be sent.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum NoRoom {
    /// Requests that are open have to tell first what they use.
    ForNow,
    /// Nothing is left.
    Shut(Shut),
}

impl Purse {
    /// What an attempt may use.
    pub(super) fn of_attempt(allowance: &Allowance) -> Self {
        let limited = allowance.tokens.is_some() || allowance.cost.is_some();
        let limits = Limits {
            tokens: allowance.tokens,
            usd: allowance.cost.map(|cost| cost.usd),
            open: limited.then_some(OPEN),
        };
        let price = allowance.cost.map(|cost| cost.price);
        Self::new(limits, Arc::new(move |_| price))
    }

    /// What all who share a gateway may use.
    pub(super) fn of_all(max_tokens: Option<u64>, max_cost_usd: Option<f64>, price_of: PriceOf) -> Self {
        let limits = Limits {
            tokens: max_tokens,
            usd: max_cost_usd,
            open: None,
        };
        Self::new(limits, price_of)
    }

    fn new(limits: Limits, price_of: PriceOf) -> Self {
        Self {
            limits,
            price_of,
            state: Mutex::default(),
            changed: Arc::default(),
        }
    }

    /// Whether money is limited.
    pub(super) fn limits_money(&self) -> bool {
        self.limits.usd.is_some()
    }

    /// Whether money is limited and this model's price is not known, so that it may not be asked.
    pub(super) fn lacks_price_of(&self, model: Option<&str>) -> bool {
        self.limits.usd.is_some() && self.price(&[model]).is_none()
    }

    /// Whether a request may be sent now.
    pub(super) fn room(&self) -> Result<(), NoRoom> {
        self.limits.room(&self.state())
    }

    /// Charges a request that is about to be sent, if there is room.
    pub(super) fn admit(self: &Arc<Self>, asked: &Asked) -> Result<Ticket, NoRoom> {
        let amount = self.amount(&asked.most(), &[asked.model.as_deref()]);
        let mut state = self.state();
        self.limits.room(&state)?;
        let number = state.next;
        state.next += 1;
        state.open.insert(number, amount);
        Ok(Ticket {
            purse: Arc::clone(self),
            number,
        })
    }

    /// Comes when something was given back after this was called.
    pub(super) fn changed(&self) -> OwnedNotified {
        Arc::clone(&self.changed).notified_owned()
    }

    /// Counts one that waits for room, which only limits bring about; `None` when too many do.
    pub(super) fn wait(self: &Arc<Self>) -> Option<Waiting> {
        let mut state = self.state();
        if state.waiting >= WAITING {
            return None;
        }
        state.waiting += 1;
        Some(Waiting(Arc::clone(self)))
    }

    /// Why nothing more may be asked, if so.
    pub(super) fn shut(&self) -> Option<Shut> {
        match self.room() {
            Err(NoRoom::Shut(shut)) => Some(shut),
            Ok(()) | Err(NoRoom::ForNow) => None,
        }
    }

    /// What was told, in US dollars; `None` when a price is not known.
    pub(super) fn cost_usd(&self) -> Option<f64> {
        let state = self.state();
        (!state.unpriced).then_some(state.told.usd)
    }

    /// What answers that did not tell may have used.
    pub(super) fn untold(&self) -> Amount {
        self.state().untold
    }

    /// Reads what was used by model.
    pub(super) fn with_tally<T>(&self, read: impl FnOnce(&Tally) -> T) -> T {
        read(&self.state().tally)
    }

    /// The price of the first of these that has one.
    fn price(&self, models: &[Option<&str>]) -> Option<Price> {
        models
            .iter()
            .find_map(|model| (self.price_of)(model.unwrap_or_default()))
    }

    fn amount(&self, tokens: &Tokens, models: &[Option<&str>]) -> Amount {
        Amount {
            tokens: tokens.total(),
            usd: self.price(models).map_or(0.0, |price| price.cost_usd(tokens)),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Limits {
    fn room(&self, state: &State) -> Result<(), NoRoom> {
        let used = state.told.plus(state.untold);
        if let Some(most) = self.tokens.filter(|most| used.tokens >= *most) {
            let untold = state.untold.tokens;
            let used = used.tokens;
            return Err(NoRoom::Shut(Shut::Tokens { used, most, untold }));
        }
        if let Some(most) = self.usd.filter(|most| used.usd >= *most) {
            let untold = state.untold.usd;
            let spent = used.usd;
            return Err(NoRoom::Shut(Shut::Cost { spent, most, untold }));
        }
        let charged = state.open.values().fold(used, |sum, one| sum.plus(*one));
        let full = self.open.is_some_and(|most| state.open.len() >= most)
            || self.tokens.is_some_and(|most| charged.tokens >= most)
            || self.usd.is_some_and(|most| charged.usd >= most);
        // One that is alone is let through, whatever it may use: something is left, and nobody is there to be waited for.
        if full { Err(NoRoom::ForNow) } else { Ok(()) }
    }
}

/// A request that is charged. Dropped before it was settled, it is given back as never sent.
pub(super) struct Ticket {
    purse: Arc<Purse>,
    number: u64,
}

impl Ticket {
    /// More is known of what the request asks for.
    pub(super) fn hear(&self, asked: &Asked) {
        let amount = self.purse.amount(&asked.most(), &[asked.model.as_deref()]);
        if let Some(open) = self.purse.state().open.get_mut(&self.number) {
            *open = amount;
        }
        self.purse.changed.notify_waiters();
    }

    /// The request is over.
    pub(super) fn settle(self, used: &Used) {
        let purse = Arc::clone(&self.purse);
        let models = [used.told.model.as_deref(), used.asked.as_deref()];
        let told = used.told.tokens.map(|tokens| purse.amount(&tokens, &models));
        let untold = used.untold.map(|tokens| purse.amount(&tokens, &models));
        let mut state = purse.state();
        state.unpriced |= told.is_some() && purse.price(&models).is_none();
        state.told = state.told.plus(told.unwrap_or_default());
        state.untold = state.untold.plus(untold.unwrap_or_default());
        state.tally.add(&used.told, used.untold.is_some());
        state.open.remove(&self.number);
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        self.purse.state().open.remove(&self.number);
        self.purse.changed.notify_waiters();
    }
}

/// One that waits for room.
pub(super) struct Waiting(Arc<Purse>);

impl Drop for Waiting {
    fn drop(&mut self) {
        let mut state = self.0.state();
        state.waiting = state.waiting.saturating_sub(1);
    }
}

impl fmt::Debug for Purse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Purse")
            .field("limits", &self.limits)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
