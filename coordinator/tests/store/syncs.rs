//! Group commit, and readers beside it.

use std::future::poll_fn;
use std::ops::ControlFlow;
use std::task::Poll;

use mcproctor::outcome::Outcome;
use mcproctor::record::RunState;
use mcproctor::store::{AttemptFilter, Store};
use mcproctor_proto::evidence::EvidenceKind;

use crate::sample::{attempt, noise, put, run};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_queues_up_behind_a_commit_is_synced_and_committed_as_one() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path()).unwrap();
    let record = run("r1", 1);
    store.create_run(&record).await.unwrap();
    // Another process's transaction holds up the writer, as a slow disk would.
    let other = rusqlite::Connection::open(folder.path().join("mcproctor.db")).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let before = store.syncs();
    let mut first = Box::pin(store.set_state(&record.id, RunState::Running));
    poll_fn(|context| Poll::Ready(first.as_mut().poll(context).is_pending())).await;
    while store.queued() > 0 {
        tokio::task::yield_now().await;
    }
    // Now the writer waits inside the first commit.
    let mut tasks = Vec::new();
    for number in 0..200 {
        let (store, id) = (store.clone(), record.id.clone());
        tasks.push(tokio::spawn(async move {
            let sent = attempt(0, number + 1, 1, Outcome::Passed);
            let piece = noise(number.into(), 200);
            let evidence = put(&store, EvidenceKind::Calls, &piece);
            tokio::join!(evidence, store.put_attempt(&id, 1, &sent)).1
        }));
    }
    while store.queued() < 400 {
        tokio::task::yield_now().await;
    }
    other.execute_batch("COMMIT").unwrap();
    first.await.unwrap();
    for task in tasks {
        task.await.unwrap().unwrap();
    }
    let after = store.syncs();
    assert_eq!((after.commits - before.commits, after.packs - before.packs), (2, 1));
    assert_eq!(
        store.reader().unwrap().progress(&record.id).unwrap().finished.len(),
        200
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn readers_see_a_growing_run_in_order_while_it_is_written() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path()).unwrap();
    let record = run("r1", 1);
    store.create_run(&record).await.unwrap();
    let (writer, id) = (store.clone(), record.id.clone());
    let writing = tokio::spawn(async move {
        for iteration in 1..=600 {
            writer
                .put_attempt(&id, 1, &attempt(0, iteration, 1, Outcome::Passed))
                .await
                .unwrap();
        }
    });
    let readers = [0, 1].map(|_| {
        let (reader, id) = (store.reader().unwrap(), record.id.clone());
        tokio::task::spawn_blocking(move || {
            let mut seen = 0;
            while seen < 600 {
                let mut now = 0;
                reader
                    .for_each_attempt(&id, AttemptFilter::ALL, &mut |attempt| {
                        now += 1;
                        assert_eq!(attempt.iteration, now);
                        ControlFlow::Continue(())
                    })
                    .unwrap();
                assert!(now >= seen, "an acknowledged attempt vanished");
                seen = now;
            }
        })
    });
    writing.await.unwrap();
    for reader in readers {
        reader.await.unwrap();
    }
}
