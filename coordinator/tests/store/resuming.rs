//! What a resumed run finds, and who may resume it.

use std::collections::HashSet;

use mcproctor::event::AttemptKey;
use mcproctor::outcome::{InvalidCause, Outcome};
use mcproctor::record::RunState;
use mcproctor::store::{PutAttempt, Reader, Store, StoreError, Unfinished};

use crate::sample::{attempt, not_last, run};

#[tokio::test]
async fn a_resumed_run_keeps_results_counts_attempts_and_repeats_what_was_aborted() {
    let folder = tempfile::tempdir().unwrap();
    let record = run("r1", 1);
    let store = Store::open(folder.path()).unwrap();
    store.create_run(&record).await.unwrap();
    let server = Outcome::Invalid(InvalidCause::Server);
    for (epoch, sent) in [
        (1, attempt(0, 1, 1, Outcome::Passed)),
        (1, not_last(attempt(0, 2, 1, server))),
        (5, not_last(attempt(0, 2, 2, server))),
        (1, attempt(1, 1, 1, server)),
        (1, not_last(attempt(3, 9, 1, server))),
        (4, attempt(3, 9, 2, Outcome::Aborted)),
    ] {
        store.put_attempt(&record.id, epoch, &sent).await.unwrap();
    }
    store.set_state(&record.id, RunState::Aborted).await.unwrap();
    drop(store);

    let store = Store::open(folder.path()).unwrap();
    let reader = store.reader().unwrap();
    let progress = reader.progress(&record.id).unwrap();
    // What stayed invalid has its result too: no attempt is left for it.
    assert_eq!(progress.finished, HashSet::from([(0, 1), (1, 1)]));
    assert_eq!(
        progress.unfinished.into_iter().collect::<Vec<_>>(),
        [
            (
                (0, 2),
                Unfinished {
                    next_attempt: 3,
                    spent: 2,
                    epoch: 5,
                    in_flight: false,
                }
            ),
            (
                (3, 9),
                Unfinished {
                    next_attempt: 3,
                    spent: 1,
                    epoch: 4,
                    in_flight: false,
                }
            ),
        ]
    );
    assert_eq!(reader.runs().unwrap().remove(0).aborted, 1);

    store.set_state(&record.id, RunState::Running).await.unwrap();
    let again = attempt(3, 9, 3, Outcome::Passed);
    assert_eq!(
        store.put_attempt(&record.id, 6, &again).await.unwrap(),
        PutAttempt::Accepted
    );
    let progress = reader.progress(&record.id).unwrap();
    assert!(progress.finished.contains(&(3, 9)));
    let head = reader.runs().unwrap().remove(0);
    assert_eq!((head.state, head.passed, head.aborted), (RunState::Running, 2, 0));
    // The record says what the row says.
    assert!(!reader.attempt(&record.id, 3, 9, 2).unwrap().unwrap().last);
}

#[tokio::test]
async fn only_one_coordinator_has_a_run_at_a_time() {
    let folder = tempfile::tempdir().unwrap();
    let record = run("r1", 1);
    let (one, other) = (Store::open(folder.path()).unwrap(), Store::open(folder.path()).unwrap());
    one.create_run(&record).await.unwrap();
    let lock = one.lock_run(&record.id).unwrap();
    match other.lock_run(&record.id) {
        Err(StoreError::RunActive { pid, .. }) => assert_eq!(pid, Some(std::process::id())),
        result => panic!("{result:?}"),
    }
    assert!(Reader::open(folder.path()).unwrap().runs().unwrap()[0].active);
    drop(lock);
    assert!(!Reader::open(folder.path()).unwrap().runs().unwrap()[0].active);
    let _lock = other.lock_run(&record.id).unwrap();
}

#[tokio::test]
async fn a_killed_coordinator_s_journal_tells_what_was_in_flight() {
    let folder = tempfile::tempdir().unwrap();
    let record = run("r1", 1);
    let store = Store::open(folder.path()).unwrap();
    store.create_run(&record).await.unwrap();
    let given = async |cell, iteration, attempt, epoch| {
        let key = AttemptKey {
            cell,
            iteration,
            attempt,
        };
        store
            .put_lease(&record.id, key, epoch, "local", 1_700_000_000_000)
            .await
            .unwrap();
    };
    // Came back.
    given(0, 1, 1, 10).await;
    store
        .put_attempt(&record.id, 10, &attempt(0, 1, 1, Outcome::Passed))
        .await
        .unwrap();
    // Never came back, neither the first time it was given out nor the second.
    given(0, 2, 1, 11).await;
    given(0, 2, 1, 14).await;
    // Its second attempt never came back.
    given(0, 3, 1, 12).await;
    let invalid = not_last(attempt(0, 3, 1, Outcome::Invalid(InvalidCause::Server)));
    store.put_attempt(&record.id, 12, &invalid).await.unwrap();
    given(0, 3, 2, 13).await;

    let progress = store.reader().unwrap().progress(&record.id).unwrap();
    assert_eq!(progress.finished, HashSet::from([(0, 1)]));
    assert_eq!(
        progress.unfinished.into_iter().collect::<Vec<_>>(),
        [
            (
                (0, 2),
                Unfinished {
                    next_attempt: 1,
                    spent: 0,
                    epoch: 14,
                    in_flight: true
                }
            ),
            (
                (0, 3),
                Unfinished {
                    next_attempt: 2,
                    spent: 1,
                    epoch: 13,
                    in_flight: true
                }
            ),
        ]
    );
    let key = AttemptKey {
        cell: 0,
        iteration: 1,
        attempt: 1,
    };
    let nowhere = store.put_lease(&run("r2", 1).id, key, 1, "local", 0).await;
    assert!(matches!(nowhere, Err(StoreError::NoSuchRun { .. })), "{nowhere:?}");
}
