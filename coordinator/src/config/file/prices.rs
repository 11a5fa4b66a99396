//! `prices`: what models cost, in place of the built-in list.

use std::collections::BTreeMap;

use mcproctor_proto::price::Price;

use super::amount::{self, Nothing};
use crate::yaml::{Item, Problems};

/// Reads the section. Nothing in it depends on anything else in the file.
pub(super) fn read(item: &Item<'_>, problems: &mut Problems) -> Option<BTreeMap<String, Price>> {
    let named = item.named("a mapping of models to their prices", problems)?;
    let mut prices = BTreeMap::new();
    for (model, item) in named {
        if let Some(price) = read_price(&item, problems) {
            prices.insert(model, price);
        }
    }
    Some(prices)
}

fn read_price(item: &Item<'_>, problems: &mut Problems) -> Option<Price> {
    let mut fields = item.fields(problems)?;
    let input = fields.require("inputPerMillion", problems);
    let output = fields.require("outputPerMillion", problems);
    let cached = fields.get("cachedInputPerMillion");
    let write = fields.get("cacheWritePerMillion");
    let long_write = fields.get("cacheWrite1hPerMillion");
    fields.finish(problems);
    let mut amount = |item: Option<Item<'_>>| item.map(|item| amount::read(&item, Nothing::Allowed, problems));
    let (input, output) = (amount(input).flatten(), amount(output).flatten());
    let (cached, write, long_write) = (amount(cached), amount(write), amount(long_write));
    let input = input?;
    // What is left out costs what stands next to it.
    let or = |given: Option<Option<f64>>, otherwise: f64| given.unwrap_or(Some(otherwise));
    let write = or(write, input)?;
    Some(Price {
        input_per_million: input,
        cached_input_per_million: or(cached, input)?,
        cache_write_per_million: write,
        cache_write_1h_per_million: or(long_write, write)?,
        output_per_million: output?,
    })
}
