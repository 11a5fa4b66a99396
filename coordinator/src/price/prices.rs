//! The price of a model, and the cost of an attempt.

use std::collections::BTreeMap;

use mcproctor_proto::price::Price;
use mcproctor_proto::traffic::ModelTraffic;
use serde::{Deserialize, Serialize};

use super::list::{ListPrice, listed};

/// A price, and where it is from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct KnownPrice {
    /// The price.
    #[serde(flatten)]
    pub price: Price,
    /// The day on which it was seen; `None` for one of the config.
    pub date: Option<String>,
    /// Where it was seen; `None` for one of the config.
    pub source: Option<String>,
}

impl From<&ListPrice> for KnownPrice {
    fn from(line: &ListPrice) -> Self {
        Self {
            price: line.price,
            date: Some(line.date.clone()),
            source: Some(line.source.clone()),
        }
    }
}

/// The prices that a run goes by: the user's own, then the list's.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Prices {
    own: BTreeMap<String, Price>,
}

impl Prices {
    /// The list, with these prices in place of its own.
    pub fn new(own: BTreeMap<String, Price>) -> Self {
        Self { own }
    }

    /// The price of a model by the name that it was asked by or that it answered under: the name itself, or without the mark
    /// of a snapshot (`-20250929`, `-2025-08-07`, `-latest`) and of a context window (`[1m]`). No other part of a name is
    /// left out, because a `-mini` costs what its bigger sister does not.
    pub fn found(&self, model: &str) -> Option<KnownPrice> {
        let model = model.trim();
        let base = without_snapshot(model);
        [model, base].into_iter().find_map(|name| {
            let own = self.own.get(name).copied().map(|price| KnownPrice {
                price,
                date: None,
                source: None,
            });
            own.or_else(|| listed().iter().find(|line| line.model == name).map(KnownPrice::from))
        })
    }

    /// The same, without where it is from.
    pub fn of(&self, model: &str) -> Option<Price> {
        self.found(model).map(|known| known.price)
    }

    /// What an attempt cost in US dollars; `None` when not all that it used is known, or not the price of a model that
    /// answered.
    pub fn cost_of(&self, traffic: &ModelTraffic) -> Option<f64> {
        if !traffic.usage_is_known() {
            return None;
        }
        traffic
            .usage
            .iter()
            .map(|used| Some(self.of(used.model.as_deref()?)?.cost_usd(&used.tokens)))
            .sum()
    }
}

fn without_snapshot(model: &str) -> &str {
    let model = model.strip_suffix("[1m]").unwrap_or(model);
    if let Some(base) = model.strip_suffix("-latest") {
        return base;
    }
    for mark in ["-00000000", "-0000-00-00"] {
        let Some((base, end)) = model
            .len()
            .checked_sub(mark.len())
            .and_then(|at| model.split_at_checked(at))
        else {
            continue;
        };
        let fits = end.chars().zip(mark.chars()).all(|(found, expected)| match expected {
            '0' => found.is_ascii_digit(),
            _ => found == expected,
        });
        if fits && !base.is_empty() {
            return base;
        }
    }
    model
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use mcproctor_proto::tokens::{ModelUsage, Tokens};

    use super::*;

    fn flat(dollars: f64) -> Price {
        Price {
            input_per_million: dollars,
            cached_input_per_million: dollars,
            cache_write_per_million: dollars,
            cache_write_1h_per_million: dollars,
            output_per_million: dollars,
        }
    }

    fn used(model: Option<&str>, input_tokens: u64) -> ModelUsage {
        ModelUsage {
            model: model.map(str::to_owned),
            responses: 1,
            tokens: Tokens {
                input_tokens,
                ..Tokens::default()
            },
        }
    }

    fn traffic(usage: Vec<ModelUsage>) -> ModelTraffic {
        ModelTraffic {
            observed: true,
            requests: 1,
            succeeded: 1,
            usage,
            ..ModelTraffic::default()
        }
    }

    #[test]
    fn a_snapshot_costs_what_its_model_does_and_a_smaller_sister_does_not() {
        let prices = Prices::default();
        let sonnet = prices.of("claude-sonnet-4-5").unwrap();
        for name in [
            "claude-sonnet-4-5-20250929",
            "claude-sonnet-4-5-latest",
            "claude-sonnet-4-5[1m]",
            "claude-sonnet-4-5-20250929[1m]",
            " claude-sonnet-4-5",
        ] {
            assert_eq!(prices.of(name), Some(sonnet), "{name}");
        }
        let gpt = prices.of("gpt-5").unwrap();
        assert_eq!(prices.of("gpt-5-2025-08-07"), Some(gpt));
        assert_ne!(prices.of("gpt-5-mini"), Some(gpt));
        for unknown in [
            "",
            "gpt",
            "gpt-5-",
            "gpt-5-maxi",
            "gpt-5-2025-08",
            "sonnet",
            "-20250929",
            "é-20250929",
        ] {
            assert_eq!(prices.of(unknown), None, "{unknown}");
        }
    }

    #[test]
    fn the_users_price_goes_before_the_lists_also_for_snapshots() {
        let prices = Prices::new([("gpt-5".to_owned(), flat(7.0)), ("mine".to_owned(), flat(1.0))].into());
        assert_eq!(prices.of("gpt-5-2025-08-07"), Some(flat(7.0)));
        assert_eq!(prices.of("mine"), Some(flat(1.0)));
        assert_eq!(prices.found("mine").unwrap().source, None);
        assert!(prices.found("gpt-5-mini").unwrap().date.is_some());
        assert_ne!(prices.of("gpt-5-mini"), Some(flat(7.0)));
    }

    #[test]
    fn a_cost_is_known_when_all_of_it_is() {
        let prices = Prices::new([("a".to_owned(), flat(1.0)), ("b".to_owned(), flat(10.0))].into());
        let cost = |usage| prices.cost_of(&traffic(usage));
        let known = cost(vec![used(Some("a"), 1_000_000), used(Some("b"), 500_000)]).unwrap();
        assert!((known - 6.0).abs() < 1e-9);
        assert_eq!(cost(vec![used(Some("a"), 1), used(Some("c"), 1)]), None, "no price");
        assert_eq!(cost(vec![used(None, 1)]), None, "no name");
        assert_eq!(cost(Vec::new()), None, "nothing was told");
        let mut unknown = traffic(vec![used(Some("a"), 1)]);
        unknown.requests_without_usage = 1;
        assert_eq!(prices.cost_of(&unknown), None);
        unknown = traffic(vec![used(Some("a"), 1)]);
        unknown.observed = false;
        assert_eq!(prices.cost_of(&unknown), None);
    }
}
