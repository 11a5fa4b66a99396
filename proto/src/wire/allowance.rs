//! What an attempt may use of its model.

use std::time::Duration;

use super::malformed::Malformed;
use crate::allowance::{Allowance, CostAllowance};
use crate::price::Price;
use crate::v1;

impl From<&Allowance> for v1::Allowance {
    fn from(allowance: &Allowance) -> Self {
        Self {
            tokens: allowance.tokens,
            cost_usd: allowance.cost.map(|cost| cost.usd),
            price: allowance.cost.map(|cost| (&cost.price).into()),
            request_interval_ms: allowance
                .request_interval
                .map_or(0, |interval| u64::try_from(interval.as_millis()).unwrap_or(u64::MAX)),
        }
    }
}

impl TryFrom<v1::Allowance> for Allowance {
    type Error = Malformed;

    fn try_from(allowance: v1::Allowance) -> Result<Self, Malformed> {
        let cost = match (allowance.cost_usd, allowance.price) {
            (None, _) => None,
            // A limit that cannot be kept to is refused, not ignored.
            (Some(_), None) => return Err(Malformed::missing("price")),
            (Some(usd), _) if !usd.is_finite() || usd < 0.0 => return Err(Malformed::unknown("cost_usd", usd)),
            (Some(usd), Some(price)) => Some(CostAllowance {
                usd,
                price: price.into(),
            }),
        };
        let interval = Duration::from_millis(allowance.request_interval_ms);
        Ok(Self {
            tokens: allowance.tokens,
            cost,
            request_interval: (!interval.is_zero()).then_some(interval),
        })
    }
}

impl From<&Price> for v1::Price {
    fn from(price: &Price) -> Self {
        Self {
            input_per_million: price.input_per_million,
            cached_input_per_million: price.cached_input_per_million,
            cache_write_per_million: price.cache_write_per_million,
            cache_write_1h_per_million: price.cache_write_1h_per_million,
            output_per_million: price.output_per_million,
        }
    }
}

impl From<v1::Price> for Price {
    fn from(price: v1::Price) -> Self {
        Self {
            input_per_million: price.input_per_million,
            cached_input_per_million: price.cached_input_per_million,
            cache_write_per_million: price.cache_write_per_million,
            cache_write_1h_per_million: price.cache_write_1h_per_million,
            output_per_million: price.output_per_million,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_allowance_comes_out_as_it_went_in_and_half_a_cost_limit_is_refused() {
        let allowance = Allowance {
            tokens: Some(7),
            cost: Some(CostAllowance {
                usd: 0.25,
                price: Price {
                    input_per_million: 1.0,
                    cached_input_per_million: 2.0,
                    cache_write_per_million: 3.0,
                    cache_write_1h_per_million: 4.0,
                    output_per_million: 5.0,
                },
            }),
            request_interval: Some(Duration::from_millis(1_500)),
        };
        for allowance in [allowance, Allowance::default()] {
            assert_eq!(v1::Allowance::from(&allowance).try_into(), Ok(allowance));
        }
        let mut half = v1::Allowance::from(&allowance);
        half.price = None;
        assert_eq!(Allowance::try_from(half), Err(Malformed::missing("price")));
    }
}
