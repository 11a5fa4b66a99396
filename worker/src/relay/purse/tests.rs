#![allow(clippy::unwrap_used)]

use super::super::ledger::Told;
use super::*;

fn purse(max_tokens: Option<u64>, max_cost_usd: Option<f64>) -> Arc<Purse> {
    let price = Price {
        input_per_million: 1_000_000.0,
        output_per_million: 1_000_000.0,
        ..Price::default()
    };
    let price_of = move |model: &str| (model == "known").then_some(price);
    Arc::new(Purse::of_all(max_tokens, max_cost_usd, Arc::new(price_of)))
}

fn tokens(input_tokens: u64) -> Tokens {
    Tokens {
        input_tokens,
        ..Tokens::default()
    }
}

fn used(model: Option<&str>, told: Option<u64>, untold: Option<u64>) -> Used {
    Used {
        told: Told {
            model: model.map(str::to_owned),
            tokens: told.map(tokens),
            ..Told::default()
        },
        untold: untold.map(tokens),
        ..Used::default()
    }
}

/// A request that asks for so many tokens, and has 11 itself.
fn asked(output: u64) -> Asked {
    let mut asking = super::super::asked::Asking::new(super::super::asked::Form::Messages, 0);
    asking.feed(format!(r#"{{"max_tokens":{output},"model":"known"}}"#).as_bytes());
    asking.so_far().clone()
}

#[test]
fn it_shuts_when_a_limit_is_reached_and_not_before() {
    let purse = purse(Some(100), Some(90.0));
    let spend = |tokens| {
        let ticket = purse.admit(&Asked::default()).unwrap();
        ticket.settle(&used(Some("known"), Some(tokens), None));
    };
    spend(89);
    assert_eq!((purse.shut(), purse.cost_usd()), (None, Some(89.0)));
    spend(1);
    let cost = Shut::Cost {
        spent: 90.0,
        most: 90.0,
        untold: 0.0,
    };
    assert_eq!(purse.shut(), Some(cost));
    assert!(matches!(purse.admit(&Asked::default()), Err(NoRoom::Shut(shut)) if shut == cost));
}

#[test]
fn what_was_not_told_stays_charged_and_is_said_to_be_an_estimate() {
    let purse = purse(Some(100), None);
    let one = purse.admit(&asked(10)).unwrap();
    one.settle(&used(None, Some(30), Some(69)));
    assert_eq!(purse.shut(), None);
    let two = purse.admit(&asked(10)).unwrap();
    two.settle(&used(None, None, Some(1)));
    let shut = purse.shut().unwrap();
    assert_eq!(
        shut.to_string(),
        "limits.maxTokens is reached: 100 of 100 tokens are used, 70 of them the most that answers may have used which did not tell; \
         raise it in the gateway's config"
    );
    purse.with_tally(|tally| assert_eq!((tally.tokens().total(), tally.without_usage()), (30, 2)));
}

#[test]
fn requests_side_by_side_are_charged_what_they_may_use_until_they_tell() {
    let purse = purse(Some(100), None);
    let first = purse.admit(&asked(89)).unwrap();
    assert!(
        matches!(purse.admit(&asked(1)), Err(NoRoom::ForNow)),
        "100 may be in use"
    );
    first.hear(&asked(88));
    let second = purse.admit(&asked(1)).unwrap();
    assert!(matches!(purse.admit(&asked(1)), Err(NoRoom::ForNow)));
    first.settle(&used(None, Some(5), None));
    let third = purse.admit(&asked(1)).unwrap();
    drop((second, third));
    let alone = purse.admit(&asked(1_000)).unwrap();
    alone.settle(&used(None, Some(94), None));
    assert_eq!(purse.shut(), None, "what was never sent used nothing");
}

#[test]
fn so_many_requests_of_an_attempt_with_a_limit_are_open_and_wait_at_once() {
    let limited = Arc::new(Purse::of_attempt(&Allowance {
        tokens: Some(u64::MAX),
        ..Allowance::default()
    }));
    let free = Arc::new(Purse::of_attempt(&Allowance::default()));
    let open: Vec<_> = (0..OPEN).map(|_| limited.admit(&asked(1)).unwrap()).collect();
    assert!(matches!(limited.admit(&asked(1)), Err(NoRoom::ForNow)));
    let waiting: Vec<_> = (0..WAITING).map(|_| limited.wait().unwrap()).collect();
    assert!(limited.wait().is_none());
    drop((open, waiting));
    assert!(limited.wait().is_some() && limited.admit(&asked(1)).is_ok());
    let open: Vec<_> = (0..10 * OPEN).map(|_| free.admit(&asked(1)).unwrap()).collect();
    drop(open);
}

#[test]
fn a_model_that_answers_under_another_name_costs_what_the_one_asked_for_does() {
    let purse = purse(None, Some(10.0));
    assert!(purse.lacks_price_of(Some("strange")) && purse.lacks_price_of(None));
    assert!(!purse.lacks_price_of(Some("known")));
    let mut answered = used(Some("strange"), Some(4), None);
    answered.asked = Some("known".into());
    purse.admit(&asked(1)).unwrap().settle(&answered);
    assert_eq!((purse.cost_usd(), purse.shut()), (Some(4.0), None));
}

#[test]
fn a_price_that_is_not_known_makes_the_cost_unknown_and_shuts_nothing() {
    let purse = purse(Some(100), None);
    assert!(!purse.lacks_price_of(Some("strange")), "money is not limited");
    let ticket = purse.admit(&Asked::default()).unwrap();
    ticket.settle(&used(Some("strange"), Some(1), None));
    assert_eq!((purse.cost_usd(), purse.shut()), (None, None));
}

#[test]
fn no_sum_overflows() {
    let purse = purse(Some(u64::MAX), Some(f64::MAX));
    let most = Tokens {
        input_tokens: u64::MAX,
        output_tokens: u64::MAX,
        ..Tokens::default()
    };
    for _ in 0..3 {
        if let Ok(ticket) = purse.admit(&asked(1)) {
            let mut used = used(Some("known"), None, None);
            used.told.tokens = Some(most);
            used.untold = Some(most);
            ticket.settle(&used);
        }
    }
    assert!(matches!(purse.shut(), Some(Shut::Tokens { used: u64::MAX, .. })));
}
