//! What all who share a gateway may use together.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use mcproctor_proto::price::Price;

use super::tally::Tally;
use super::traffic::Told;

/// The price of a model by the name under which it answered; `None` when it is not known.
pub type PriceOf = Arc<dyn Fn(&str) -> Option<Price> + Send + Sync>;

/// A sum of all usage, and its limits.
pub(super) struct Purse {
    max_tokens: Option<u64>,
    max_cost_usd: Option<f64>,
    price_of: PriceOf,
    tally: Mutex<Tally>,
}

/// Why nothing more may be asked.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Shut {
    /// So many tokens were used of so many.
    Tokens { used: u64, most: u64 },
    /// So many US dollars were spent of so many.
    Cost { spent: f64, most: f64 },
    /// A model answered whose price is not known, so that a limit of money cannot be kept to; its name, if it told one.
    Unpriced(Option<String>),
    /// Models answer without telling what they used, so that no limit can be kept to.
    Untold,
}

impl fmt::Display for Shut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tokens { used, most } => write!(
                f,
                "limits.maxTokens is reached: {used} of {most} tokens are used; raise it in the gateway's config"
            ),
            Self::Cost { spent, most } => write!(
                f,
                "limits.maxCostUsd is reached: ${spent:.2} of ${most:.2} are spent; raise it in the gateway's config"
            ),
            Self::Unpriced(Some(model)) => write!(
                f,
                "{model} answered, and its price is not known, so limits.maxCostUsd cannot be kept to; add it to the gateway's \
                 config: `prices: {{{model}: {{inputPerMillion: …, outputPerMillion: …}}}}`"
            ),
            Self::Unpriced(None) => f.write_str(
                "a model without a name answered, so limits.maxCostUsd cannot be kept to; take it out of the gateway's config",
            ),
            Self::Untold => f.write_str(
                "the model's API does not tell what it uses, so limits cannot be kept to; take maxTokens and maxCostUsd out of the \
                 gateway's config",
            ),
        }
    }
}

impl Purse {
    pub(super) fn new(max_tokens: Option<u64>, max_cost_usd: Option<f64>, price_of: PriceOf) -> Self {
        Self {
            max_tokens,
            max_cost_usd,
            price_of,
            tally: Mutex::default(),
        }
    }

    /// A request is over; see [`Tally::add`].
    pub(super) fn add(&self, told: &Told, begun: bool) {
        self.tally().add(told, begun);
    }

    /// Why nothing more may be asked, if so.
    pub(super) fn shut(&self) -> Option<Shut> {
        if self.max_tokens.is_none() && self.max_cost_usd.is_none() {
            return None;
        }
        let tally = self.tally();
        if tally.by_model().next().is_none() && tally.without_usage() > 0 {
            return Some(Shut::Untold);
        }
        let used = tally.tokens().total();
        if let Some(most) = self.max_tokens.filter(|most| used >= *most) {
            return Some(Shut::Tokens { used, most });
        }
        let most = self.max_cost_usd?;
        match self.cost(&tally) {
            Ok(spent) if spent >= most => Some(Shut::Cost { spent, most }),
            Ok(_) => None,
            Err(unpriced) => Some(unpriced),
        }
    }

    /// What it all cost, in US dollars; `None` when a price is not known.
    pub(super) fn cost_usd(&self) -> Option<f64> {
        self.cost(&self.tally()).ok()
    }

    fn cost(&self, tally: &Tally) -> Result<f64, Shut> {
        let mut sum = 0.0;
        for used in tally.by_model() {
            let price = used.model.as_deref().and_then(|model| (self.price_of)(model));
            sum += price
                .ok_or_else(|| Shut::Unpriced(used.model.clone()))?
                .cost_usd(&used.tokens);
        }
        Ok(sum)
    }

    pub(super) fn tally(&self) -> MutexGuard<'_, Tally> {
        self.tally.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Purse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Purse")
            .field("max_tokens", &self.max_tokens)
            .field("max_cost_usd", &self.max_cost_usd)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use mcproctor_proto::tokens::Tokens;

    use super::*;

    fn purse(max_tokens: Option<u64>, max_cost_usd: Option<f64>) -> Purse {
        let price = Price {
            input_per_million: 1_000_000.0,
            ..Price::default()
        };
        Purse::new(
            max_tokens,
            max_cost_usd,
            Arc::new(move |model| (model == "known").then_some(price)),
        )
    }

    fn told(model: Option<&str>, input_tokens: u64) -> Told {
        Told {
            model: model.map(str::to_owned),
            tokens: Some(Tokens {
                input_tokens,
                ..Tokens::default()
            }),
        }
    }

    #[test]
    fn it_shuts_when_a_limit_is_reached_and_not_before() {
        let purse = purse(Some(100), Some(90.0));
        assert_eq!(purse.shut(), None);
        purse.add(&told(Some("known"), 89), true);
        assert_eq!((purse.shut(), purse.cost_usd()), (None, Some(89.0)));
        purse.add(&told(Some("known"), 1), true);
        let cost = Shut::Cost {
            spent: 90.0,
            most: 90.0,
        };
        assert_eq!(purse.shut(), Some(cost));
        purse.add(&told(Some("known"), 10), true);
        assert_eq!(purse.shut(), Some(Shut::Tokens { used: 100, most: 100 }));
    }

    #[test]
    fn money_that_cannot_be_counted_shuts_a_limit_of_money_only() {
        for model in [Some("strange"), None] {
            let (tokens, cost) = (purse(Some(100), None), purse(None, Some(1e9)));
            for purse in [&tokens, &cost] {
                purse.add(&told(model, 1), true);
                assert_eq!(purse.cost_usd(), None);
            }
            assert_eq!(tokens.shut(), None);
            assert_eq!(cost.shut(), Some(Shut::Unpriced(model.map(str::to_owned))));
        }
    }

    #[test]
    fn an_api_that_tells_nothing_shuts_every_limit_and_one_lost_answer_does_not() {
        let silent = purse(Some(100), None);
        silent.add(&Told::default(), false);
        assert_eq!(silent.shut(), None, "a refusal has used nothing");
        silent.add(&Told::default(), true);
        assert_eq!(silent.shut(), Some(Shut::Untold));
        silent.add(&told(Some("known"), 1), true);
        assert_eq!(silent.shut(), None);
        let unlimited = purse(None, None);
        unlimited.add(&Told::default(), true);
        assert_eq!(unlimited.shut(), None);
    }
}
