//! What counts, what is kept apart, and what comes out again.

use std::ops::ControlFlow;

use mcproctor::outcome::{FailureClass, InvalidCause, Outcome};
use mcproctor::store::{AttemptFilter, PutAttempt, Reader, Store, StoreError};
use mcproctor_proto::evidence::{EvidenceKind, EvidenceRef};
use mcproctor_proto::id::RunId;

use crate::sample::{attempt, not_last, put, run, sha256};

fn keys(reader: &Reader, run: &RunId, filter: AttemptFilter) -> Vec<(u32, u32, u32)> {
    let mut keys = Vec::new();
    reader
        .for_each_attempt(run, filter, &mut |record| {
            keys.push((record.cell, record.iteration, record.attempt));
            ControlFlow::Continue(())
        })
        .unwrap();
    keys
}

#[tokio::test]
async fn a_record_comes_back_as_it_was_with_the_arguments_byte_for_byte() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path()).unwrap();
    let record = run("r1", 1);
    store.create_run(&record).await.unwrap();
    let transcript = put(&store, EvidenceKind::Transcript, b"said this").await;
    let mut sent = attempt(3, 100, 2, Outcome::Failed(FailureClass::RanOutOfTime));
    sent.evidence = vec![transcript];
    store.put_attempt(&record.id, 9, &sent).await.unwrap();

    let reader = store.reader().unwrap();
    let found = reader.attempt(&record.id, 3, 100, 2).unwrap().unwrap();
    assert_eq!(
        serde_json::to_string(&found).unwrap(),
        serde_json::to_string(&sent).unwrap()
    );
    assert_eq!(
        found.calls[0].arguments.as_ref().unwrap().get(),
        r#"{"days": 3.0,  "city":"Graz"}"#
    );
    assert!(reader.attempt(&record.id, 3, 100, 1).unwrap().is_none());
    let (run_found, _) = reader.run(&record.id).unwrap().unwrap();
    assert_eq!(
        serde_json::to_string(&run_found).unwrap(),
        serde_json::to_string(&record).unwrap()
    );
}

#[tokio::test]
async fn attempts_come_in_order_of_cell_iteration_and_attempt_however_they_arrived() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path()).unwrap();
    let id = run("r1", 1).id;
    store.create_run(&run("r1", 1)).await.unwrap();
    store.create_run(&run("r2", 2)).await.unwrap();
    store
        .put_attempt(&RunId::new("r2"), 1, &attempt(0, 1, 1, Outcome::Passed))
        .await
        .unwrap();
    let invalid = Outcome::Invalid(InvalidCause::Server);
    for record in [
        attempt(1, 10, 1, Outcome::Passed),
        attempt(1, 9, 1, Outcome::Passed),
        attempt(0, 2, 1, Outcome::Passed),
        not_last(attempt(0, 1, 1, invalid)),
        attempt(0, 1, 2, Outcome::Passed),
    ] {
        assert_eq!(store.put_attempt(&id, 1, &record).await.unwrap(), PutAttempt::Accepted);
    }
    let reader = store.reader().unwrap();
    assert_eq!(
        keys(&reader, &id, AttemptFilter::ALL),
        [(0, 1, 1), (0, 1, 2), (0, 2, 1), (1, 9, 1), (1, 10, 1)]
    );
    assert_eq!(
        keys(&reader, &id, AttemptFilter::RESULTS),
        [(0, 1, 2), (0, 2, 1), (1, 9, 1), (1, 10, 1)]
    );
    assert_eq!(
        keys(&reader, &id, AttemptFilter::ALL.in_cell(0)),
        [(0, 1, 1), (0, 1, 2), (0, 2, 1)]
    );
    assert_eq!(
        keys(&reader, &id, AttemptFilter::RESULTS.in_cell(0)),
        [(0, 1, 2), (0, 2, 1)]
    );
    assert_eq!(keys(&reader, &id, AttemptFilter::ALL.in_cell(7)), []);
}

#[tokio::test]
async fn a_second_walk_up_to_a_watermark_sees_what_the_first_one_saw() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path()).unwrap();
    let record = run("r1", 1);
    store.create_run(&record).await.unwrap();
    let reader = store.reader().unwrap();
    let before = reader.watermark().unwrap();
    store
        .put_attempt(&record.id, 1, &attempt(0, 2, 1, Outcome::Passed))
        .await
        .unwrap();
    let then = reader.watermark().unwrap();
    // One before and one after it in the order.
    for iteration in [1, 3] {
        store
            .put_attempt(&record.id, 1, &attempt(0, iteration, 1, Outcome::Passed))
            .await
            .unwrap();
    }
    assert_eq!(keys(&reader, &record.id, AttemptFilter::ALL.up_to(before)), []);
    assert_eq!(keys(&reader, &record.id, AttemptFilter::ALL.up_to(then)), [(0, 2, 1)]);
    assert_eq!(
        keys(&reader, &record.id, AttemptFilter::ALL),
        [(0, 1, 1), (0, 2, 1), (0, 3, 1)]
    );
}

#[tokio::test]
async fn a_visit_can_be_broken_off() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path()).unwrap();
    let record = run("r1", 1);
    store.create_run(&record).await.unwrap();
    for iteration in 1..=5 {
        store
            .put_attempt(&record.id, 1, &attempt(0, iteration, 1, Outcome::Passed))
            .await
            .unwrap();
    }
    let mut seen = 0;
    let mut visit = |_| {
        seen += 1;
        if seen == 2 {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    };
    store
        .reader()
        .unwrap()
        .for_each_attempt(&record.id, AttemptFilter::ALL, &mut visit)
        .unwrap();
    assert_eq!(seen, 2);
}

#[tokio::test]
async fn the_first_accepted_result_wins_and_a_later_lease_s_is_kept_apart_with_its_cost() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path()).unwrap();
    let record = run("r1", 1);
    store.create_run(&record).await.unwrap();
    let first = attempt(0, 1, 1, Outcome::Passed);
    let other = attempt(0, 1, 1, Outcome::Failed(FailureClass::AgentError));
    assert_eq!(
        store.put_attempt(&record.id, 2, &first).await.unwrap(),
        PutAttempt::Accepted
    );
    // The acknowledgement was lost: the same lease sends again.
    assert_eq!(
        store.put_attempt(&record.id, 2, &first).await.unwrap(),
        PutAttempt::Duplicate
    );
    // A worker that lost its lease finishes after all, and repeats itself.
    for _ in 0..2 {
        assert_eq!(
            store.put_attempt(&record.id, 1, &other).await.unwrap(),
            PutAttempt::Duplicate
        );
    }
    store.put_late(&record.id, 3, &other).await.unwrap();

    let reader = store.reader().unwrap();
    assert_eq!(
        reader.attempt(&record.id, 0, 1, 1).unwrap().unwrap().outcome,
        Outcome::Passed
    );
    let mut late = Vec::new();
    reader
        .for_each_late(&record.id, &mut |found| {
            late.push((found.epoch, found.record.outcome));
            ControlFlow::Continue(())
        })
        .unwrap();
    assert_eq!(late, [(1, other.outcome), (3, other.outcome)]);
    let (count, usage) = reader.late_cost(&record.id).unwrap();
    assert_eq!((count, usage.input_tokens, usage.cost_usd), (2, Some(200), Some(0.5)));
}

#[tokio::test]
async fn an_iteration_has_one_result() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path()).unwrap();
    let record = run("r1", 1);
    store.create_run(&record).await.unwrap();
    store
        .put_attempt(&record.id, 1, &attempt(0, 1, 1, Outcome::Passed))
        .await
        .unwrap();
    let second = attempt(0, 1, 2, Outcome::Failed(FailureClass::AgentError));
    assert_eq!(
        store.put_attempt(&record.id, 2, &second).await.unwrap(),
        PutAttempt::Duplicate
    );
    let reader = store.reader().unwrap();
    assert_eq!(keys(&reader, &record.id, AttemptFilter::ALL), [(0, 1, 1)]);
    assert_eq!(reader.late_cost(&record.id).unwrap().0, 1);
}

#[tokio::test]
async fn an_attempt_whose_evidence_is_not_stored_is_refused_and_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path()).unwrap();
    let record = run("r1", 1);
    store.create_run(&record).await.unwrap();
    let missing = EvidenceRef {
        kind: EvidenceKind::Wire,
        sha256: sha256(b"never sent"),
        bytes: 10,
    };
    let mut bad = attempt(0, 1, 1, Outcome::Passed);
    bad.evidence = vec![put(&store, EvidenceKind::Calls, b"there").await, missing.clone()];
    // In one commit with a good one, which must not suffer.
    let good = attempt(0, 2, 1, Outcome::Passed);
    let (refused, accepted) = tokio::join!(
        store.put_attempt(&record.id, 1, &bad),
        store.put_attempt(&record.id, 1, &good)
    );
    match refused {
        Err(StoreError::MissingEvidence { sha256 }) => assert_eq!(sha256, missing.sha256),
        other => panic!("{other:?}"),
    }
    assert_eq!(accepted.unwrap(), PutAttempt::Accepted);
    assert_eq!(
        keys(&store.reader().unwrap(), &record.id, AttemptFilter::ALL),
        [(0, 2, 1)]
    );
    bad.evidence.pop();
    assert_eq!(
        store.put_attempt(&record.id, 1, &bad).await.unwrap(),
        PutAttempt::Accepted
    );
}

#[tokio::test]
async fn runs_are_created_once_and_attempts_need_one() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path()).unwrap();
    let record = run("r1", 1);
    let orphan = store
        .put_attempt(&record.id, 1, &attempt(0, 1, 1, Outcome::Passed))
        .await;
    assert!(matches!(orphan, Err(StoreError::NoSuchRun { .. })), "{orphan:?}");
    store.create_run(&record).await.unwrap();
    assert!(matches!(
        store.create_run(&record).await,
        Err(StoreError::RunExists { .. })
    ));
    assert!(matches!(
        store.create_run(&run("../r1", 1)).await,
        Err(StoreError::BadRunId { .. })
    ));
    assert!(matches!(
        store
            .reader()
            .unwrap()
            .for_each_attempt(
                &RunId::new("other"),
                AttemptFilter::ALL,
                &mut |_| ControlFlow::Continue(())
            ),
        Err(StoreError::NoSuchRun { .. })
    ));
}

#[tokio::test]
async fn tallies_count_results_by_cause_and_retries_apart() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path()).unwrap();
    let record = run("r1", 1);
    store.create_run(&record).await.unwrap();
    let server = Outcome::Invalid(InvalidCause::Server);
    let model = Outcome::Invalid(InvalidCause::Model);
    for sent in [
        attempt(0, 1, 1, Outcome::Passed),
        attempt(0, 2, 1, Outcome::Failed(FailureClass::WrongTool)),
        attempt(0, 3, 1, Outcome::Failed(FailureClass::AgentError)),
        not_last(attempt(0, 4, 1, server)),
        attempt(0, 4, 2, Outcome::Passed),
        not_last(attempt(0, 5, 1, server)),
        not_last(attempt(0, 5, 2, server)),
        attempt(0, 5, 3, model),
        attempt(2, 1, 1, Outcome::Aborted),
    ] {
        store.put_attempt(&record.id, 1, &sent).await.unwrap();
    }
    let reader = store.reader().unwrap();
    let tallies = reader.tallies(&record.id).unwrap();
    assert_eq!(tallies.iter().map(|tally| tally.cell).collect::<Vec<_>>(), [0, 2]);
    let first = &tallies[0];
    assert_eq!(
        (
            first.passed,
            first.failed_total(),
            first.invalid.values().sum::<u64>(),
            first.attempts
        ),
        (2, 2, 1, 8)
    );
    assert_eq!(first.failed[&FailureClass::AgentError], 1);
    assert_eq!(first.invalid[&InvalidCause::Model], 1);
    assert_eq!(first.retried[&InvalidCause::Server], 3);
    assert_eq!(first.duration_ms, 8 * 1_500);
    assert_eq!((tallies[1].aborted, tallies[1].attempts), (1, 1));

    let head = reader.runs().unwrap().remove(0);
    assert_eq!((head.passed, head.failed, head.invalid, head.aborted), (2, 2, 1, 1));
    assert_eq!(head.total_iterations(), 400);
}
