//! Tokens that a model's API says were used.

use serde::{Deserialize, Serialize};

/// Token counts with one meaning for every API: the input counts everything that the model read, and the parts of it say
/// what became of it. Sums that no number holds become the largest one.
///
/// Anthropic Messages tells the input without its cached parts (<https://platform.claude.com/docs/en/build-with-claude/prompt-caching>),
/// OpenAI tells it with them (<https://platform.openai.com/docs/guides/prompt-caching>); whoever reads them converts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Tokens {
    /// Read by the model: what came from the cache and what was written to it included.
    pub input_tokens: u64,
    /// The part of the input that came from the provider's cache.
    pub cached_input_tokens: u64,
    /// The part of the input that was written to the provider's cache, whatever for how long.
    pub cache_write_tokens: u64,
    /// The part of the cache writes that is kept for an hour.
    #[serde(rename = "cacheWrite1hTokens")]
    pub cache_write_1h_tokens: u64,
    /// Written by the model, thinking included.
    pub output_tokens: u64,
}

impl Tokens {
    /// Adds `other`.
    pub fn add(&mut self, other: &Self) {
        let plus = u64::saturating_add;
        self.input_tokens = plus(self.input_tokens, other.input_tokens);
        self.cached_input_tokens = plus(self.cached_input_tokens, other.cached_input_tokens);
        self.cache_write_tokens = plus(self.cache_write_tokens, other.cache_write_tokens);
        self.cache_write_1h_tokens = plus(self.cache_write_1h_tokens, other.cache_write_1h_tokens);
        self.output_tokens = plus(self.output_tokens, other.output_tokens);
    }

    /// Input and output together.
    pub fn total(&self) -> u64 {
        self.input_tokens.saturating_add(self.output_tokens)
    }

    /// The part of the input that no cache had and none was given.
    pub fn plain_input_tokens(&self) -> u64 {
        self.input_tokens
            .saturating_sub(self.cached_input_tokens)
            .saturating_sub(self.cache_write_tokens)
    }
}

/// What one model used, as its API told.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ModelUsage {
    /// The model as the responses named it; `None` for those that named none.
    pub model: Option<String>,
    /// Responses that told what was used.
    pub responses: u32,
    /// What they told, together.
    #[serde(flatten)]
    pub tokens: Tokens,
}

#[cfg(test)]
mod tests {
    use super::Tokens;

    #[test]
    fn the_parts_of_the_input_never_exceed_it_and_sums_stay_numbers() {
        let strange = Tokens {
            input_tokens: 5,
            cached_input_tokens: u64::MAX,
            cache_write_tokens: 3,
            cache_write_1h_tokens: 9,
            output_tokens: u64::MAX,
        };
        assert_eq!(strange.plain_input_tokens(), 0);
        assert_eq!(strange.total(), u64::MAX);
        let mut sum = strange;
        sum.add(&strange);
        assert_eq!((sum.input_tokens, sum.output_tokens), (10, u64::MAX));
    }
}
