//! What was used, by the model that answered.

use std::collections::BTreeMap;

use mcproctor_proto::tokens::{ModelUsage, Tokens};

use super::ledger::Told;

/// Models that are kept apart; an API that names ever new ones fills no memory.
pub(super) const MODEL_CAP: usize = 64;

/// Adds up what responses tell, within bounds.
#[derive(Debug, Default)]
pub(super) struct Tally {
    by_model: BTreeMap<Option<String>, ModelUsage>,
    without_usage: u32,
}

impl Tally {
    /// A request is over. `untold` when it may have used more than its answer told, and nobody knows how much.
    pub(super) fn add(&mut self, told: &Told, untold: bool) {
        self.without_usage = self.without_usage.saturating_add(u32::from(untold));
        let Some(tokens) = told.tokens else { return };
        let known = self.by_model.contains_key(&told.model) || self.by_model.len() < MODEL_CAP;
        let model = told.model.clone().filter(|_| known);
        let usage = self.by_model.entry(model.clone()).or_insert_with(|| ModelUsage {
            model,
            ..ModelUsage::default()
        });
        usage.responses = usage.responses.saturating_add(1);
        usage.tokens.add(&tokens);
    }

    /// What each model used, in the order of their names.
    pub(super) fn by_model(&self) -> impl Iterator<Item = &ModelUsage> {
        self.by_model.values()
    }

    /// What all models used together.
    pub(super) fn tokens(&self) -> Tokens {
        let mut sum = Tokens::default();
        self.by_model.values().for_each(|model| sum.add(&model.tokens));
        sum
    }

    /// Requests whose answers did not tell, or not all.
    pub(super) fn without_usage(&self) -> u32 {
        self.without_usage
    }
}
