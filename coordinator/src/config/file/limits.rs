//! `run.limits`: what a run may use.

use super::amount::{self, Nothing};
use crate::config::limit_places::LimitPlaces;
use crate::limits::Limits;
use crate::yaml::{Item, Problems};

/// More than any run will ever use; a number above it is a slip of the pen.
const MOST_TOKENS: u64 = 1_000_000_000_000_000;
const MOST_REQUESTS: u32 = 1_000_000;

/// Reads the section. Nothing in it depends on anything else in the file.
pub(super) fn read(item: &Item<'_>, problems: &mut Problems) -> Option<(Limits, LimitPlaces)> {
    let mut fields = item.fields(problems)?;
    let cost = fields.get("maxCostUsd");
    let tokens = fields.get("maxTokens");
    let requests = fields.get("requestsPerMinute");
    fields.finish(problems);
    let place = |item: &Option<Item<'_>>| item.as_ref().map(|item| item.node.place);
    let places = LimitPlaces {
        max_cost_usd: place(&cost),
        max_tokens: place(&tokens),
        requests_per_minute: place(&requests),
    };
    let limits = Limits {
        max_cost_usd: cost.and_then(|item| amount::read(&item, Nothing::Refused, problems)),
        max_tokens: tokens.and_then(|item| whole(&item, MOST_TOKENS, problems)),
        requests_per_minute: requests.and_then(|item| whole(&item, MOST_REQUESTS, problems)),
    };
    Some((limits, places))
}

/// A whole number from 1 to `most`.
fn whole<T: Copy + Into<i128> + TryFrom<i128> + std::fmt::Display>(
    item: &Item<'_>,
    most: T,
    problems: &mut Problems,
) -> Option<T> {
    let number = item.number(problems)?;
    let fits = (1..=most.into()).contains(&number.value);
    if !fits {
        let problem = item.problem(problems, "the number is out of range");
        problems.add(problem.accepted(format!("a whole number from 1 to {most}")));
        return None;
    }
    T::try_from(number.value).ok()
}
