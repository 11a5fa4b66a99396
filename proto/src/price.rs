//! What tokens cost.

use serde::{Deserialize, Serialize};

use crate::tokens::Tokens;

/// What a model's tokens cost, in US dollars per million of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Price {
    /// Input that no cache had and none was given.
    pub input_per_million: f64,
    /// Input that came from the provider's cache.
    pub cached_input_per_million: f64,
    /// Input that was written to the provider's cache.
    pub cache_write_per_million: f64,
    /// Input that was written to it for an hour.
    #[serde(rename = "cacheWrite1hPerMillion")]
    pub cache_write_1h_per_million: f64,
    /// Output.
    pub output_per_million: f64,
}

impl Price {
    /// What these tokens cost, in US dollars.
    pub fn cost_usd(&self, tokens: &Tokens) -> f64 {
        let long_writes = tokens.cache_write_1h_tokens.min(tokens.cache_write_tokens);
        let parts = [
            (tokens.plain_input_tokens(), self.input_per_million),
            (tokens.cached_input_tokens, self.cached_input_per_million),
            (tokens.cache_write_tokens - long_writes, self.cache_write_per_million),
            (long_writes, self.cache_write_1h_per_million),
            (tokens.output_tokens, self.output_per_million),
        ];
        #[expect(clippy::cast_precision_loss, reason = "a cost needs no more than 15 digits")]
        let cost = |(count, per_million): (u64, f64)| count as f64 * per_million / 1e6;
        parts.into_iter().map(cost).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_part_has_its_own_price() {
        let price = Price {
            input_per_million: 4.0,
            cached_input_per_million: 0.2,
            cache_write_per_million: 5.0,
            cache_write_1h_per_million: 8.0,
            output_per_million: 20.0,
        };
        let tokens = Tokens {
            input_tokens: 1_000_000,
            cached_input_tokens: 500_000,
            cache_write_tokens: 300_000,
            cache_write_1h_tokens: 100_000,
            output_tokens: 10_000,
        };
        // 200,000 plain, 500,000 cached, 200,000 and 100,000 written, 10,000 out.
        assert!((price.cost_usd(&tokens) - (0.8 + 0.1 + 1.0 + 0.8 + 0.2)).abs() < 1e-9);
        assert!(price.cost_usd(&Tokens::default()).abs() < f64::EPSILON);
    }
}
