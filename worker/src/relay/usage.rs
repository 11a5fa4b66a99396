//! Reads what the API says was used. Pure.
//!
//! Sources: Anthropic, Messages and its streaming events (`usage` of a message, cumulative in `message_delta`;
//! `input_tokens` leaves out what was read from the cache or written to it); OpenAI, Responses and Chat Completions
//! (`input_tokens` and `prompt_tokens` hold the cached ones).

use mcproctor_proto::tokens::Tokens;
use serde_json::Value;

use super::endpoint::Dialect;

/// The counts of one response, as far as they were told; a later word on a count replaces the earlier one.
#[derive(Clone, Copy, Debug)]
pub(super) struct Used {
    dialect: Dialect,
    input: Option<u64>,
    cached: Option<u64>,
    cache_write: Option<u64>,
    cache_write_1h: Option<u64>,
    output: Option<u64>,
}

impl Used {
    pub(super) fn new(dialect: Dialect) -> Self {
        Self {
            dialect,
            input: None,
            cached: None,
            cache_write: None,
            cache_write_1h: None,
            output: None,
        }
    }

    /// Takes in what an event, or a whole response, says.
    pub(super) fn take(&mut self, document: &Value) {
        let places = ["/usage", "/message/usage", "/response/usage"];
        for usage in places.into_iter().filter_map(|at| document.pointer(at)) {
            self.take_usage(usage);
        }
    }

    fn take_usage(&mut self, usage: &Value) {
        let told = |paths: &[&str]| paths.iter().find_map(|path| usage.pointer(path).and_then(count));
        let replace = |known: &mut Option<u64>, told: Option<u64>| *known = told.or(*known);
        let (input, cached, cache_write, cache_write_1h, output): Paths = match self.dialect {
            Dialect::Anthropic => (
                &["/input_tokens"],
                &["/cache_read_input_tokens"],
                &["/cache_creation_input_tokens"],
                &["/cache_creation/ephemeral_1h_input_tokens"],
                &["/output_tokens"],
            ),
            Dialect::OpenAi => (
                &["/input_tokens", "/prompt_tokens"],
                &[
                    "/input_tokens_details/cached_tokens",
                    "/prompt_tokens_details/cached_tokens",
                ],
                &[
                    "/input_tokens_details/cache_write_tokens",
                    "/prompt_tokens_details/cache_write_tokens",
                ],
                &[],
                &["/output_tokens", "/completion_tokens"],
            ),
        };
        replace(&mut self.input, told(input));
        replace(&mut self.cached, told(cached));
        replace(&mut self.cache_write, told(cache_write));
        replace(&mut self.cache_write_1h, told(cache_write_1h));
        replace(&mut self.output, told(output));
    }

    /// The counts in their one meaning; `None` when nothing was told.
    pub(super) fn tokens(&self) -> Option<Tokens> {
        if self.input.is_none() && self.output.is_none() {
            return None;
        }
        let or_none = Option::unwrap_or_default;
        let (cached, cache_write) = (or_none(self.cached), or_none(self.cache_write));
        let input = match self.dialect {
            Dialect::Anthropic => or_none(self.input).saturating_add(cached).saturating_add(cache_write),
            Dialect::OpenAi => or_none(self.input),
        };
        Some(Tokens {
            input_tokens: input,
            cached_input_tokens: cached.min(input),
            cache_write_tokens: cache_write.min(input),
            cache_write_1h_tokens: or_none(self.cache_write_1h).min(cache_write),
            output_tokens: or_none(self.output),
        })
    }
}

/// Where input, cached input, cache writes, those for an hour, and output stand.
type Paths = (
    &'static [&'static str],
    &'static [&'static str],
    &'static [&'static str],
    &'static [&'static str],
    &'static [&'static str],
);

/// A count; one that no number here holds is the largest one, and what cannot be a count is none.
fn count(value: &Value) -> Option<u64> {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "the cast saturates, and negative ones are left out"
    )]
    let saturated = |number: f64| number as u64;
    value
        .as_u64()
        .or_else(|| value.as_f64().filter(|number| *number >= 0.0).map(saturated))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use serde_json::json;

    use super::*;

    fn told(dialect: Dialect, documents: &[Value]) -> Option<[u64; 5]> {
        let mut used = Used::new(dialect);
        documents.iter().for_each(|document| used.take(document));
        used.tokens().map(|tokens| {
            [
                tokens.input_tokens,
                tokens.cached_input_tokens,
                tokens.cache_write_tokens,
                tokens.cache_write_1h_tokens,
                tokens.output_tokens,
            ]
        })
    }

    #[test]
    fn anthropics_input_leaves_out_the_cached_parts_and_is_made_whole() {
        let message = json!({"model": "claude-x", "usage": {"input_tokens": 10, "cache_creation_input_tokens": 300,
            "cache_read_input_tokens": 2000, "cache_creation": {"ephemeral_5m_input_tokens": 100,
            "ephemeral_1h_input_tokens": 200}, "output_tokens": 7}});
        assert_eq!(told(Dialect::Anthropic, &[message]), Some([2310, 2000, 300, 200, 7]));
    }

    #[test]
    fn cumulative_counts_of_a_stream_replace_the_first_ones_and_null_says_nothing() {
        let start = json!({"type": "message_start", "message": {"usage": {"input_tokens": 10,
            "cache_creation_input_tokens": null, "cache_read_input_tokens": 5, "output_tokens": 1}}});
        let delta = json!({"type": "message_delta", "delta": {}, "usage": {"output_tokens": 40}});
        let all = json!({"type": "message_delta", "delta": {}, "usage": {"input_tokens": 12, "cache_read_input_tokens": 6,
            "output_tokens": 90}});
        assert_eq!(
            told(Dialect::Anthropic, std::slice::from_ref(&start)),
            Some([15, 5, 0, 0, 1])
        );
        assert_eq!(
            told(Dialect::Anthropic, &[start.clone(), delta.clone()]),
            Some([15, 5, 0, 0, 40])
        );
        assert_eq!(told(Dialect::Anthropic, &[start, delta, all]), Some([18, 6, 0, 0, 90]));
    }

    #[test]
    fn openais_input_holds_the_cached_parts() {
        let responses = json!({"type": "response.completed", "response": {"usage": {"input_tokens": 900,
            "input_tokens_details": {"cached_tokens": 700, "cache_write_tokens": 100}, "output_tokens": 30,
            "output_tokens_details": {"reasoning_tokens": 20}, "total_tokens": 930}}});
        assert_eq!(told(Dialect::OpenAi, &[responses]), Some([900, 700, 100, 0, 30]));
        let chat = json!({"choices": [], "usage": {"prompt_tokens": 9, "completion_tokens": 3, "total_tokens": 12,
            "prompt_tokens_details": {"cached_tokens": 4}}});
        assert_eq!(told(Dialect::OpenAi, &[chat]), Some([9, 4, 0, 0, 3]));
    }

    #[test]
    fn nothing_told_is_not_zero() {
        for nothing in [
            json!({}),
            json!({"usage": null}),
            json!({"usage": {}}),
            json!({"usage": "12"}),
        ] {
            assert_eq!(told(Dialect::OpenAi, std::slice::from_ref(&nothing)), None);
            assert_eq!(told(Dialect::Anthropic, &[nothing]), None);
        }
        let zero = json!({"usage": {"input_tokens": 0, "output_tokens": 0}});
        assert_eq!(told(Dialect::Anthropic, &[zero]), Some([0; 5]));
    }

    #[test]
    fn numbers_that_cannot_be_counts_do_no_harm() {
        let huge: Value = serde_json::from_str(
            r#"{"usage": {"input_tokens": 18446744073709551615, "cache_read_input_tokens": 1e300, "output_tokens": 1e30}}"#,
        )
        .unwrap();
        let most = u64::MAX;
        assert_eq!(told(Dialect::Anthropic, &[huge]), Some([most, most, 0, 0, most]));
        let negative = json!({"usage": {"input_tokens": -5, "output_tokens": "many", "cached_tokens": []}});
        assert_eq!(told(Dialect::OpenAi, &[negative]), None);
        let more_cached_than_read = json!({"usage": {"input_tokens": 5, "output_tokens": 1,
            "input_tokens_details": {"cached_tokens": 9}}});
        assert_eq!(told(Dialect::OpenAi, &[more_cached_than_read]), Some([5, 5, 0, 0, 1]));
    }
}
