//! `maxTokens`: how many tokens may be used.

use mcproctor_proto::turn::Turn;

use super::checked::{Checked, Hope};
use super::observed::Observed;
use crate::expectation::Expectations;
use crate::record::Family;

/// Tokens that the model read, cached ones included, and wrote, over all turns: as the relay counted them where it knows all of
/// them, else as the agent reports them.
pub(super) fn check(expectations: &Expectations, observed: &Observed<'_>) -> Option<Checked> {
    let most = expectations.max_tokens?;
    let what = format!("at most {most} tokens");
    let of_turn = |turn: &Turn| Some(turn.usage.input_tokens?.saturating_add(turn.usage.output_tokens?));
    let told: Vec<Option<u64>> = if observed.traffic.usage_is_known() {
        vec![Some(observed.traffic.tokens().total())]
    } else {
        observed.turns.iter().map(of_turn).collect()
    };
    let known = told.iter().flatten().copied().fold(0, u64::saturating_add);
    // What is known is already too much, or all of it is known.
    if known > most {
        let why = format!("it used {known}");
        return Some(Checked::unmet(Family::Tokens, what, why, Hope::Never));
    }
    Some(match told.iter().position(Option::is_none) {
        Some(turn) => Checked::unchecked(
            Family::Tokens,
            what,
            format!("the agent does not say how many tokens turn {} used", turn + 1),
        ),
        None => Checked::met(Family::Tokens, what),
    })
}

#[cfg(test)]
mod tests {
    use mcproctor_proto::turn::{TurnEnding, Usage};

    use super::super::fixtures::{Recorded, relayed};
    use crate::record::fixtures::turn;

    fn used(tokens: &[Option<(u64, u64)>]) -> Recorded {
        let mut recorded = Recorded::under("maxTokens: 100");
        recorded.turns = (0..)
            .zip(tokens)
            .map(|(index, tokens)| {
                let mut turn = turn(index, TurnEnding::Completed);
                turn.usage = Usage {
                    input_tokens: tokens.map(|(input, _)| input),
                    output_tokens: tokens.map(|(_, output)| output),
                    ..Usage::default()
                };
                turn
            })
            .collect();
        recorded
    }

    #[test]
    fn tokens_of_all_turns_add_up() {
        assert!(used(&[Some((50, 10)), Some((30, 10))]).all_met());
        let much = used(&[Some((50, 10)), Some((30, 11))]);
        assert_eq!(much.unmet(), "at most 100 tokens: it used 101");
        assert!(!much.worth_talking_on() && !much.only_unmet().unchecked);
    }

    #[test]
    fn what_the_relay_counted_in_full_goes_before_the_agents_own_words() {
        let counted = |input, without_usage| {
            let mut recorded = used(&[Some((1, 1)), None]);
            recorded.traffic = relayed(input, without_usage);
            recorded
        };
        assert!(counted(99, 0).all_met(), "the agent does not say all, and need not");
        assert_eq!(counted(100, 0).unmet(), "at most 100 tokens: it used 101");
        assert!(counted(100, 1).only_unmet().unchecked, "one answer did not tell");
    }

    #[test]
    fn more_than_any_number_holds_is_too_much() {
        for tokens in [
            [Some((u64::MAX, u64::MAX)), Some((0, 0))],
            [Some((u64::MAX, 0)), Some((0, 200))],
        ] {
            assert_eq!(
                used(&tokens).unmet(),
                "at most 100 tokens: it used 18446744073709551615"
            );
        }
    }

    #[test]
    fn what_the_agent_does_not_say_is_not_held_against_it() {
        let silent = used(&[Some((50, 10)), None]);
        let result = silent.only_unmet();
        assert!(result.unchecked);
        assert_eq!(result.why, "the agent does not say how many tokens turn 2 used");
        assert!(
            !used(&[None, Some((99, 99))]).only_unmet().unchecked,
            "what is known is too much already"
        );
    }
}
