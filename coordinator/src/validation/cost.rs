//! `maxCostUsd`: what it may cost.

use super::checked::{Checked, Hope};
use super::observed::Observed;
use crate::expectation::Expectations;
use crate::record::Family;

/// What a sum may be off the true one, in US dollars: 0.1 + 0.2 is a little more than 0.3.
const ROUNDING: f64 = 1e-9;

/// US dollars over all turns: what the relay counted by the run's prices, where all of both is known, else as the agent reports
/// them.
pub(super) fn check(expectations: &Expectations, observed: &Observed<'_>) -> Option<Checked> {
    let most = expectations.max_cost_usd?;
    let what = format!("at most {most} US dollars");
    let told: Vec<Option<f64>> = match observed.cost_usd {
        Some(cost) => vec![Some(cost)],
        None => observed
            .turns
            .iter()
            .map(|turn| turn.usage.reported_cost_usd())
            .collect(),
    };
    let known: f64 = told.iter().flatten().sum();
    // What is known is already too much, or all of it is known.
    if known > most + ROUNDING {
        // Without what adding up rounds, and so that what is too much does not look like the limit.
        let why = format!("it cost {}", (known * 1e9).round() / 1e9);
        return Some(Checked::unmet(Family::Cost, what, why, Hope::Never));
    }
    Some(match told.iter().position(Option::is_none) {
        Some(turn) => Checked::unchecked(
            Family::Cost,
            what,
            format!("the agent does not say what turn {} cost", turn + 1),
        ),
        None => Checked::met(Family::Cost, what),
    })
}

#[cfg(test)]
mod tests {
    use mcproctor_proto::turn::TurnEnding;

    use super::super::fixtures::Recorded;
    use crate::record::fixtures::turn;

    #[test]
    fn what_it_cost_is_known_or_said_to_be_unknown() {
        let cost = |usd: Option<f64>| {
            let mut recorded = Recorded::under("maxCostUsd: 0.05");
            recorded.turns[0].usage.cost_usd = usd;
            recorded
        };
        assert!(cost(Some(0.05)).all_met());
        assert_eq!(cost(Some(0.06)).unmet(), "at most 0.05 US dollars: it cost 0.06");
        assert!(!cost(Some(0.06)).worth_talking_on());
        for unknown in [None, Some(-1.0), Some(f64::NAN), Some(f64::INFINITY)] {
            let unknown = cost(unknown).only_unmet();
            assert!(unknown.unchecked && unknown.why == "the agent does not say what turn 1 cost");
        }
    }

    #[test]
    fn what_the_relays_count_comes_to_goes_before_the_agents_own_words() {
        let mut recorded = Recorded::under("maxCostUsd: 0.05");
        recorded.cost_usd = Some(0.05);
        assert!(recorded.all_met(), "the agent says nothing, and need not");
        recorded.turns[0].usage.cost_usd = Some(0.01);
        recorded.cost_usd = Some(0.06);
        assert_eq!(recorded.unmet(), "at most 0.05 US dollars: it cost 0.06");
    }

    #[test]
    fn what_adding_up_rounds_costs_nothing() {
        let mut recorded = Recorded::under("maxCostUsd: 0.3");
        recorded.turns.push(turn(1, TurnEnding::Completed));
        recorded.turns[0].usage.cost_usd = Some(0.1);
        recorded.turns[1].usage.cost_usd = Some(0.2);
        assert!(recorded.all_met());
        recorded.turns[1].usage.cost_usd = Some(0.200_001);
        assert_eq!(recorded.unmet(), "at most 0.3 US dollars: it cost 0.300001");
    }
}
