//! Where limits stand in a file.

use crate::yaml::Place;

/// Where the keys of `run.limits` stand. Whether a limit can be kept to shows only with the agents and models of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LimitPlaces {
    /// `maxCostUsd`.
    pub max_cost_usd: Option<Place>,
    /// `maxTokens`.
    pub max_tokens: Option<Place>,
    /// `requestsPerMinute`.
    pub requests_per_minute: Option<Place>,
}

impl LimitPlaces {
    /// The first key of those that are there, with its place.
    pub fn first(self) -> Option<(&'static str, Place)> {
        let all = [
            ("maxCostUsd", self.max_cost_usd),
            ("maxTokens", self.max_tokens),
            ("requestsPerMinute", self.requests_per_minute),
        ];
        all.into_iter()
            .filter_map(|(key, place)| Some((key, place?)))
            .min_by_key(|(_, place)| *place)
    }
}
