//! What the judge said of attempts.

use mcproctor::event::AttemptKey;
use mcproctor::judge::{JudgeVerdict, Judgement, Opinion};
use mcproctor::outcome::{FailureClass, InvalidCause, Outcome};
use mcproctor::store::{Store, StoreError};
use mcproctor_proto::turn::Usage;

use crate::sample::{attempt, run};

fn said(verdict: JudgeVerdict) -> Judgement {
    Judgement {
        opinion: Some(Opinion {
            verdict,
            reasoning: "because".to_owned(),
            model: "m".to_owned(),
            usage: Usage::default(),
            duration_ms: 5,
            at_unix_ms: 7,
        }),
        ..Judgement::default()
    }
}

fn key(iteration: u32) -> AttemptKey {
    AttemptKey {
        cell: 0,
        iteration,
        attempt: 1,
    }
}

#[tokio::test]
async fn the_newest_word_counts_and_a_reader_may_look_at_an_earlier_moment() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path()).unwrap();
    let id = run("r1", 1).id;
    store.create_run(&run("r1", 1)).await.unwrap();
    let reader = store.reader().unwrap();
    let before = reader.watermark().unwrap();
    let first = said(JudgeVerdict::Error);
    store.put_judgement(&id, key(1), &first).await.unwrap();
    let between = reader.watermark().unwrap();
    let second = said(JudgeVerdict::Pass);
    store.put_judgement(&id, key(1), &second).await.unwrap();
    let at = |mark| reader.judgement(&id, key(1), mark).unwrap();
    assert_eq!(at(Some(before)), None);
    assert_eq!(at(Some(between)), Some(first));
    assert_eq!(at(None), Some(second.clone()));
    drop(reader);
    drop(store);
    let reopened = Store::open(folder.path()).unwrap().reader().unwrap();
    assert_eq!(reopened.judgement(&id, key(1), None).unwrap(), Some(second));
    assert_eq!(reopened.judgement(&id, key(2), None).unwrap(), None);
}

#[tokio::test]
async fn what_is_not_judged_is_counted_and_an_error_is_no_judgement() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path()).unwrap();
    let id = run("r1", 1).id;
    store.create_run(&run("r1", 1)).await.unwrap();
    for (iteration, outcome) in [
        (1, Outcome::Passed),
        (2, Outcome::Failed(FailureClass::WrongTool)),
        (3, Outcome::Invalid(InvalidCause::Server)),
        (4, Outcome::Passed),
    ] {
        store
            .put_attempt(&id, 1, &attempt(0, iteration, 1, outcome))
            .await
            .unwrap();
    }
    let reader = store.reader().unwrap();
    assert_eq!(reader.unjudged(&id).unwrap(), 3);
    for (iteration, verdict) in [(1, JudgeVerdict::Uncertain), (2, JudgeVerdict::Error)] {
        store.put_judgement(&id, key(iteration), &said(verdict)).await.unwrap();
    }
    assert_eq!(reader.unjudged(&id).unwrap(), 2);
    store
        .put_judgement(&id, key(2), &said(JudgeVerdict::Fail))
        .await
        .unwrap();
    assert_eq!(reader.unjudged(&id).unwrap(), 1);
}

#[tokio::test]
async fn a_word_on_a_run_that_is_not_there_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path()).unwrap();
    let refused = store
        .put_judgement(&run("r2", 1).id, key(1), &said(JudgeVerdict::Pass))
        .await;
    assert!(matches!(refused, Err(StoreError::NoSuchRun { .. })));
}
