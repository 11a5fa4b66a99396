//! The makers' own prices, as they were read on a date.

use std::sync::LazyLock;

use mcproctor_proto::price::Price;
use serde::Deserialize;

/// One line of the list.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct ListPrice {
    /// The model's name without the date of a snapshot.
    pub model: String,
    /// The day on which the price was seen, `2026-09-23`.
    pub date: String,
    /// Where.
    pub source: String,
    /// The price, for prompts without a surcharge for their length.
    pub price: Price,
}

/// Every list price that this version knows.
pub fn listed() -> &'static [ListPrice] {
    static LIST: LazyLock<Vec<ListPrice>> =
        LazyLock::new(|| serde_json::from_str(include_str!("../../prices.json")).unwrap_or_default());
    &LIST
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::listed;

    #[test]
    fn every_line_is_complete_dated_and_sourced_and_no_model_is_there_twice() {
        assert!(listed().len() > 20, "the list was read");
        let mut models = BTreeSet::new();
        for line in listed() {
            let model = &line.model;
            assert!(models.insert(model), "{model} is there twice");
            assert!(line.date.parse::<jiff::civil::Date>().is_ok(), "{model}: {}", line.date);
            assert!(line.source.starts_with("https://"), "{model}: {}", line.source);
            let price = line.price;
            assert!(
                0.0 < price.cached_input_per_million
                    && price.cached_input_per_million < price.input_per_million
                    && price.input_per_million <= price.cache_write_per_million
                    && price.cache_write_per_million <= price.cache_write_1h_per_million
                    && price.input_per_million < price.output_per_million,
                "{model}: {price:?}"
            );
        }
    }
}
