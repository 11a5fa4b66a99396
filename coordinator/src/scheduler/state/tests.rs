#![allow(clippy::unwrap_used, clippy::panic)]
use super::*;
use crate::outcome::InvalidCause;

fn state(cells: u32, iterations: u32, concurrency: u32) -> State {
    let settings = Settings {
        max_attempts: 3,
        concurrency,
        lease_ms: 10_000,
    };
    State::new(
        Plan::new(cells, iterations, 1),
        settings,
        HashSet::new(),
        HashMap::new(),
        0,
    )
}

fn passed() -> Verdict {
    Verdict {
        outcome: Outcome::Passed,
        reason: String::new(),
        next: Next::Stands,
    }
}

fn invalid(slower: Option<u64>) -> Verdict {
    Verdict {
        outcome: Outcome::Invalid(InvalidCause::Model),
        reason: String::new(),
        next: Next::Again { slower },
    }
}

fn leases(effects: &[Effect]) -> Vec<Lease> {
    effects
        .iter()
        .map(|effect| match effect {
            Effect::Assign { lease, .. } => lease.clone(),
            other => panic!("{other:?}"),
        })
        .collect()
}

#[test]
fn never_more_at_once_than_allowed_and_every_iteration_once() {
    let mut state = state(3, 4, 2);
    state.join("w", 8);
    let mut seen = HashSet::new();
    let mut running: Vec<Lease> = leases(&state.dispatch(0));
    assert_eq!(running.len(), 2);
    while let Some(lease) = running.pop() {
        assert!(seen.insert(lease.attempt.clone()));
        assert!(matches!(
            state.conclude(&lease, &passed(), 0),
            Conclusion::Accepted {
                last: true,
                attempt: 1,
                ..
            }
        ));
        running.extend(leases(&state.dispatch(0)));
        assert!(running.len() <= 2);
    }
    assert_eq!(seen.len(), 12);
    assert!(state.is_done());
}

#[test]
fn the_next_attempt_does_not_wait_for_the_upload_of_the_one_before() {
    let mut state = state(1, 6, 2);
    state.join("w", 2);
    let first = leases(&state.dispatch(0));
    state.vacate(&first[0]);
    let mut second = leases(&state.dispatch(0));
    assert_eq!(second.len(), 1);
    assert!(state.holds(&first[0]), "its result still counts");
    state.vacate(&first[1]);
    assert_eq!(state.dispatch(0), [], "no more than two may wait for their results");
    state.conclude(&first[0], &passed(), 0);
    second.extend(leases(&state.dispatch(0)));
    assert_eq!(second.len(), 2);
    let stale = Lease {
        epoch: 0,
        ..second[0].clone()
    };
    state.vacate(&stale);
    assert_eq!(state.dispatch(0), [], "an old lease frees nothing");
}

#[test]
fn work_is_spread_over_the_workers_by_their_free_places() {
    let mut state = state(6, 1, 6);
    state.join("a", 2);
    state.join("b", 4);
    let mut by_worker: BTreeMap<String, usize> = BTreeMap::new();
    for effect in state.dispatch(0) {
        if let Effect::Assign { worker, .. } = effect {
            *by_worker.entry(worker).or_default() += 1;
        }
    }
    assert_eq!(by_worker, BTreeMap::from([("a".to_owned(), 2), ("b".to_owned(), 4)]));
}

#[test]
fn an_invalid_attempt_is_tried_again_later_and_at_most_three_times() {
    let mut state = state(1, 1, 1);
    state.join("w", 1);
    let mut now = 0;
    for attempt in 1..=3 {
        let lease = leases(&state.dispatch(now)).pop().unwrap();
        assert_eq!(lease.attempt, attempt_id(Slot { cell: 0, iteration: 1 }, attempt));
        let conclusion = state.conclude(&lease, &invalid(None), now);
        assert!(matches!(conclusion, Conclusion::Accepted { last, .. } if last == (attempt == 3)));
        assert_eq!(state.dispatch(now), [], "it waits first");
        now = state.wakes_at().unwrap_or(now);
    }
    assert!(state.is_done());
}

#[test]
fn the_pause_that_the_model_asks_for_is_kept_and_less_runs_at_once() {
    let mut state = state(10, 1, 4);
    state.join("w", 8);
    let running = leases(&state.dispatch(0));
    state.conclude(&running[0], &invalid(Some(30_000)), 0);
    state.conclude(&running[1], &passed(), 0);
    state.conclude(&running[2], &passed(), 0);
    state.conclude(&running[3], &passed(), 0);
    assert_eq!(state.dispatch(29_999), []);
    assert_eq!(state.wakes_at(), Some(30_000));
    assert_eq!(state.dispatch(30_000).len(), 2);
}

#[test]
fn the_result_of_an_old_lease_is_late() {
    let mut state = state(1, 1, 1);
    state.join("w", 1);
    let first = leases(&state.dispatch(0)).pop().unwrap();
    assert!(state.expire(9_999).is_empty());
    let lost = state.expire(10_000);
    assert!(matches!(&lost[..], [Effect::Lost { lease, .. }] if *lease == first));
    state.conclude(&first, &invalid(None), 10_000);
    let second = leases(&state.dispatch(20_000)).pop().unwrap();
    assert!(second.epoch > first.epoch);
    assert_eq!(state.conclude(&first, &passed(), 20_000), Conclusion::Late);
    assert!(matches!(
        state.conclude(&second, &passed(), 20_000),
        Conclusion::Accepted {
            attempt: 2,
            last: true,
            ..
        }
    ));
}

#[test]
fn heartbeats_renew_only_the_current_lease() {
    let mut state = state(1, 1, 1);
    state.join("w", 1);
    let lease = leases(&state.dispatch(0)).pop().unwrap();
    state.heartbeat(
        &[Lease {
            epoch: lease.epoch + 1,
            ..lease.clone()
        }],
        9_000,
    );
    assert_eq!(state.expire(10_000).len(), 1);
    state.heartbeat(std::slice::from_ref(&lease), 9_000);
    assert!(state.expire(18_999).is_empty());
}

#[test]
fn a_worker_that_leaves_loses_what_it_ran() {
    let mut state = state(2, 1, 2);
    state.join("a", 1);
    state.join("b", 1);
    assert_eq!(state.dispatch(0).len(), 2);
    let lost = state.leave("a", "the worker a is gone");
    assert_eq!(lost.len(), 1);
    assert_eq!(state.dispatch(0), [], "b is full");
}

#[test]
fn after_a_stop_nothing_is_given_out_and_what_runs_may_end() {
    let mut state = state(5, 1, 2);
    state.join("w", 2);
    let running = leases(&state.dispatch(0));
    state.stop();
    assert!(!state.is_done());
    for lease in &running {
        state.conclude(lease, &passed(), 0);
    }
    assert_eq!(state.dispatch(0), []);
    assert!(state.is_done());
}

#[test]
fn a_refusal_for_good_stops_everything_and_leaves_the_iteration_open() {
    let mut state = state(5, 1, 1);
    state.join("w", 2);
    let lease = leases(&state.dispatch(0)).pop().unwrap();
    let verdict = Verdict {
        outcome: Outcome::Invalid(InvalidCause::Model),
        reason: String::new(),
        next: Next::StopDispatch("no key".to_owned()),
    };
    assert!(matches!(
        state.conclude(&lease, &verdict, 0),
        Conclusion::Accepted { last: false, .. }
    ));
    assert!(state.is_done());
}

#[test]
fn a_resumed_run_goes_on_where_it_was() {
    let finished = HashSet::from([Slot { cell: 0, iteration: 1 }]);
    let tried = HashMap::from([(Slot { cell: 1, iteration: 1 }, Tried { attempts: 2, spent: 1 })]);
    let settings = Settings {
        max_attempts: 3,
        concurrency: 9,
        lease_ms: 10_000,
    };
    let mut state = State::new(Plan::new(2, 1, 1), settings, finished, tried, 5);
    state.join("w", 9);
    let given = leases(&state.dispatch(5));
    assert_eq!(given.len(), 1);
    assert_eq!(given[0].attempt, attempt_id(Slot { cell: 1, iteration: 1 }, 3));
}

fn within(state: State, max_tokens: u64) -> State {
    state.within(Budget::new(&crate::limits::Limits {
        max_tokens: Some(max_tokens),
        ..Default::default()
    }))
}

/// Ends an attempt that used so many tokens.
fn end(state: &mut State, lease: &Lease, verdict: &Verdict, tokens: u64) -> Conclusion {
    let spent = Spent {
        tokens: Some(tokens),
        cost_usd: None,
    };
    state.settle(&lease.attempt, spent, verdict.next == Next::WithMore);
    state.conclude(lease, verdict, 0)
}

#[test]
fn what_cannot_be_set_aside_waits_and_is_given_out_before_anything_else() {
    let mut state = within(state(1, 3, 2), 300_000);
    state.join("w", 2);
    let first = leases(&state.dispatch(0));
    assert_eq!(first.len(), 1, "the second does not fit beside the guess for the first");
    assert_eq!(state.reserved_for(&first[0].attempt).tokens, Some(200_000));
    assert_eq!(state.dispatch(0), []);
    assert!(!state.is_done());
    end(&mut state, &first[0], &passed(), 10_000);
    let rest = leases(&state.dispatch(0));
    assert_eq!(rest.len(), 2, "by what the first used, both fit");
    for lease in &rest {
        assert_eq!(state.reserved_for(&lease.attempt).tokens, Some(20_000));
        end(&mut state, lease, &passed(), 10_000);
    }
    assert_eq!(state.dispatch(0), []);
    assert!(state.is_done(), "the plan is through: no limit was reached");
}

#[test]
fn a_limit_that_is_reached_stops_the_run_once_nothing_runs() {
    let mut state = within(state(1, 9, 1), 100_000);
    state.join("w", 1);
    let lease = leases(&state.dispatch(0)).pop().unwrap();
    end(&mut state, &lease, &passed(), 60_000);
    let effects = state.dispatch(0);
    let [Effect::OutOfBudget { limit, spent }] = effects[..] else {
        panic!("{effects:?}");
    };
    assert_eq!(limit, Limit::Tokens { tokens: 100_000 });
    assert_eq!(spent, Limit::Tokens { tokens: 60_000 });
    assert!(state.is_done());
    assert_eq!(state.dispatch(0), []);
}

#[test]
fn an_attempt_that_a_limit_ended_is_tried_again_with_twice_as_much_and_spends_no_try() {
    let mut state = within(state(1, 1, 1), 10_000_000);
    state.join("w", 1);
    let limited = Verdict {
        outcome: Outcome::Invalid(InvalidCause::Limit),
        reason: String::new(),
        next: Next::WithMore,
    };
    let mut allowed = 200_000;
    for number in 1..=5 {
        let lease = leases(&state.dispatch(0)).pop().unwrap();
        assert_eq!(lease.attempt, attempt_id(Slot { cell: 0, iteration: 1 }, number));
        assert_eq!(state.reserved_for(&lease.attempt).tokens, Some(allowed));
        let concluded = end(&mut state, &lease, &limited, allowed);
        assert!(matches!(concluded, Conclusion::Accepted { last: false, .. }));
        allowed *= 2;
    }
}

#[test]
fn where_nothing_is_limited_an_attempt_that_was_limited_is_a_fault_like_others() {
    let mut state = state(1, 1, 1);
    state.join("w", 1);
    let limited = Verdict {
        outcome: Outcome::Invalid(InvalidCause::Limit),
        reason: String::new(),
        next: Next::WithMore,
    };
    let lease = leases(&state.dispatch(0)).pop().unwrap();
    end(&mut state, &lease, &limited, 1);
    assert_eq!(state.dispatch(0), [], "it is not tried again at once");
}

#[test]
fn a_workers_part_of_the_places_counts_those_that_are_still_to_come() {
    let mut state = state(1, 1, 8);
    state.join("a", 3);
    assert_eq!(state.places("a"), (3, 8));
    state.join("b", 9);
    assert_eq!(state.places("b"), (9, 12));
}
