//! What an attempt may use of its model.

use std::time::Duration;

use crate::price::Price;
use crate::tokens::Tokens;

/// What an attempt may use of its model. Without limits by default.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Allowance {
    /// Tokens read and written, over all models.
    pub tokens: Option<u64>,
    /// Money.
    pub cost: Option<CostAllowance>,
    /// The time between two requests that this worker sends to models, over all its attempts.
    pub request_interval: Option<Duration>,
}

/// What an attempt may cost.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CostAllowance {
    /// US dollars.
    pub usd: f64,
    /// What its tokens cost; whichever model answers, this price is gone by.
    pub price: Price,
}

impl Allowance {
    /// Whether nothing of it is left once these tokens were used.
    pub fn is_used_up(&self, used: &Tokens) -> bool {
        let by_tokens = self.tokens.is_some_and(|most| used.total() >= most);
        by_tokens || self.cost.is_some_and(|cost| cost.price.cost_usd(used) >= cost.usd)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whichever_limit_is_reached_first_ends_it() {
        let used = |input_tokens| Tokens {
            input_tokens,
            ..Tokens::default()
        };
        assert!(!Allowance::default().is_used_up(&used(u64::MAX)));
        let mut allowance = Allowance {
            tokens: Some(100),
            ..Allowance::default()
        };
        assert!(!allowance.is_used_up(&used(99)) && allowance.is_used_up(&used(100)));
        let price = Price {
            input_per_million: 1_000_000.0,
            ..Price::default()
        };
        allowance.cost = Some(CostAllowance { usd: 10.0, price });
        assert!(!allowance.is_used_up(&used(9)) && allowance.is_used_up(&used(10)));
    }
}
