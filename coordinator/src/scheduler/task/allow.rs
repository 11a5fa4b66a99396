//! What attempts may use, and what they used.

use std::time::Duration;

use mcproctor_proto::agent::Agent;
use mcproctor_proto::allowance::{Allowance, CostAllowance};
use mcproctor_proto::id::Lease;
use mcproctor_proto::traffic::ModelTraffic;

use super::Task;
use crate::limits::{Limit, Spent};

impl Task {
    /// What the attempt may use: what is set aside for it, and its worker's part of the rate.
    pub(super) fn allowance(&self, worker: &str, lease: &Lease, agent: &Agent) -> Allowance {
        let reserved = self.state.reserved_for(&lease.attempt);
        let price = agent.model.as_deref().and_then(|model| self.work.prices.of(model));
        let rate = self.work.limits.requests_per_minute;
        Allowance {
            tokens: reserved.tokens,
            // An agent without a known price was refused before the run.
            cost: reserved
                .cost_usd
                .zip(price)
                .map(|(usd, price)| CostAllowance { usd, price }),
            request_interval: rate.map(|rate| interval(rate, self.state.places(worker))),
        }
    }

    /// Tells the schedule what an attempt used. Where it cannot be told, or not be priced, the limits cannot be kept to, and
    /// nothing more is given out.
    pub(super) fn settle_budget(&mut self, lease: &Lease, traffic: &ModelTraffic, lost: bool) {
        // The relay of a worker that is gone may have let through more than was heard of.
        let known = !lost && (traffic.requests == 0 || traffic.usage_is_known());
        let cost_usd = if traffic.requests == 0 {
            Some(0.0)
        } else {
            self.work.prices.cost_of(traffic)
        };
        self.state.settle(
            &lease.attempt,
            Spent {
                tokens: known.then(|| traffic.tokens().total()),
                cost_usd: cost_usd.filter(|_| known),
            },
            traffic.limited_requests > 0,
        );
        if let Some(reason) = self.cannot_be_kept(traffic) {
            self.stop_because(reason);
            self.state.stop();
        }
    }

    fn cannot_be_kept(&self, traffic: &ModelTraffic) -> Option<String> {
        let limits = &self.work.limits;
        if limits.max_cost_usd.is_none() && limits.max_tokens.is_none() {
            return None;
        }
        if traffic.succeeded > 0 && traffic.usage.is_empty() {
            return Some(
                "the model's API does not tell how many tokens it used, so run.limits cannot be kept to; \
                 ask it to tell, or take maxCostUsd and maxTokens out"
                    .to_owned(),
            );
        }
        limits.max_cost_usd?;
        let prices = &self.work.prices;
        let is_priced = |model: &str| prices.of(model).is_some();
        let mut models = traffic.usage.iter().map(|used| used.model.as_deref());
        Some(match models.find(|model| !model.is_some_and(is_priced))? {
            Some(model) => format!(
                "{model} answered, and its price is not known, so run.limits.maxCostUsd cannot be kept to; \
                 add it: `prices: {{{model}: {{inputPerMillion: …, outputPerMillion: …}}}}`"
            ),
            None => {
                "a model answered that did not name itself, so run.limits.maxCostUsd cannot be kept to; take it out"
                    .to_owned()
            }
        })
    }

    /// A limit is reached: nothing runs and nothing more is given out.
    pub(super) fn on_out_of_budget(&mut self, limit: Limit, spent: Limit) {
        self.finished.limit_reached = true;
        self.stop_because(out_of_budget(limit, spent));
    }
}

/// Why nothing more is given out.
fn out_of_budget(limit: Limit, spent: Limit) -> String {
    let over = match (limit, spent) {
        (Limit::Tokens { tokens: most }, Limit::Tokens { tokens }) => tokens > most,
        (Limit::Cost { usd: most }, Limit::Cost { usd }) => usd > most,
        _ => false,
    };
    let key = limit.key();
    let how = if over {
        format!("{key} is exceeded: {spent} were used of {limit}, because requests that had begun were not cut off")
    } else {
        format!(
            "{key} is reached: {spent} of {limit} were used, and what is left is less than one attempt usually takes"
        )
    };
    format!("{how}; raise it and go on with --resume")
}

/// The time between two requests of a worker that has so many of all places.
fn interval(per_minute: u32, (own, all): (u32, u32)) -> Duration {
    let minute = 60_000 * u64::from(all.max(1));
    let requests = u64::from(per_minute.max(1)) * u64::from(own.max(1));
    Duration::from_millis(minute.div_ceil(requests))
}

#[cfg(test)]
mod tests {
    use super::{interval, out_of_budget};
    use crate::limits::Limit;

    #[test]
    fn a_limit_that_is_reached_is_told_from_one_that_open_requests_went_past() {
        let tokens = |tokens| Limit::Tokens { tokens };
        assert_eq!(
            out_of_budget(tokens(100), tokens(90)),
            "run.limits.maxTokens is reached: 90 tokens of 100 tokens were used, and what is left is less than one attempt usually \
             takes; raise it and go on with --resume"
        );
        let cost = |usd| Limit::Cost { usd };
        assert_eq!(
            out_of_budget(cost(1.0), cost(1.25)),
            "run.limits.maxCostUsd is exceeded: $1.25 were used of $1.00, because requests that had begun were not cut off; raise it \
             and go on with --resume"
        );
    }

    #[test]
    fn every_worker_has_its_part_of_the_rate() {
        for (rate, places, ms) in [
            (60, (4, 4), 1_000),
            (60, (1, 4), 4_000),
            (600, (4, 4), 100),
            (1, (1, 2), 120_000),
            (7, (1, 1), 8_572),
            (0, (0, 0), 60_000),
            (1_000_000, (1, 1), 1),
        ] {
            assert_eq!(interval(rate, places).as_millis(), ms, "{rate} {places:?}");
        }
    }
}
