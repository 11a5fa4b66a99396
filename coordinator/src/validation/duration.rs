//! `maxDurationSeconds`: how long the turns may take.

use std::time::Duration;

use super::checked::{Checked, Hope};
use super::observed::Observed;
use crate::expectation::Expectations;
use crate::record::Family;

/// The time of all turns together, without what the relay saw the agent wait for a model that refused, failed or was silent.
pub(super) fn check(expectations: &Expectations, observed: &Observed<'_>) -> Option<Checked> {
    let most = expectations.max_duration_seconds?;
    let turns: u64 = observed
        .turns
        .iter()
        .fold(0, |sum, turn| sum.saturating_add(turn.duration_ms));
    let waiting = if observed.traffic.observed {
        observed.traffic.waiting_ms.min(turns)
    } else {
        0
    };
    let taken = Duration::from_millis(turns - waiting);
    // A limit that no duration can hold is none.
    let too_long = Duration::try_from_secs_f64(most).is_ok_and(|most| taken > most);
    // To the millisecond, in which turns are measured: what is too much must not look like the limit.
    let why = too_long.then(|| match waiting {
        0 => format!("they took {:.3} s", taken.as_secs_f64()),
        _ => format!(
            "they took {:.3} s, beside {:.3} s of waiting for the model",
            taken.as_secs_f64(),
            Duration::from_millis(waiting).as_secs_f64()
        ),
    });
    let what = format!("all turns in at most {most} s");
    Some(Checked::of(Family::Duration, what, why, Hope::Never))
}

#[cfg(test)]
mod tests {
    use mcproctor_proto::turn::TurnEnding;

    use super::super::fixtures::Recorded;
    use crate::record::fixtures::turn;

    /// Two turns of a second each.
    fn two_turns(expected: &str) -> Recorded {
        let mut recorded = Recorded::under(expected);
        recorded.turns.push(turn(1, TurnEnding::Completed));
        recorded
    }

    #[test]
    fn a_millisecond_too_much_is_seen() {
        assert!(two_turns("maxDurationSeconds: 1e300").all_met());
        let slow = two_turns("maxDurationSeconds: 1.999");
        assert_eq!(slow.unmet(), "all turns in at most 1.999 s: they took 2.000 s");
    }

    #[test]
    fn turns_add_up_and_waiting_for_the_model_is_not_counted() {
        assert!(two_turns("maxDurationSeconds: 2").all_met());
        let mut slow = two_turns("maxDurationSeconds: 1.5");
        assert_eq!(slow.unmet(), "all turns in at most 1.5 s: they took 2.000 s");
        assert!(!slow.worth_talking_on());
        slow.traffic.waiting_ms = 600;
        assert!(!slow.all_met(), "nobody saw it wait");
        slow.traffic.observed = true;
        assert!(slow.all_met());
        slow.traffic.waiting_ms = 300;
        assert!(
            slow.unmet()
                .ends_with("they took 1.700 s, beside 0.300 s of waiting for the model")
        );
    }
}
