//! A new run, or one to go on with.

use std::collections::{HashMap, HashSet};

use mcproctor_proto::id::RunId;

use super::error::RunError;
use crate::event::{AttemptKey, Event, Events};
use crate::judge::Judgement;
use crate::outcome::Outcome;
use crate::plan::Slot;
use crate::record::{RunRecord, RunState};
use crate::scheduler::Tried;
use crate::store::{AttemptFilter, Reader, RunLock, Store, StoreError};

/// A run that this process alone may carry on.
pub(super) struct Begun {
    pub(super) run: RunRecord,
    pub(super) lock: RunLock,
    pub(super) progress: Progress,
}

/// Stores a new run.
pub(super) async fn begin(store: &Store, run: RunRecord) -> Result<Begun, RunError> {
    let lock = store.lock_run(&run.id)?;
    store.create_run(&run).await?;
    Ok(Begun {
        run,
        lock,
        progress: Progress::default(),
    })
}

/// Takes up the run that was asked for, or the newest one that was held; its results so far are said as events.
pub(super) async fn go_on(
    store: &Store,
    asked: Option<RunId>,
    fingerprint: &str,
    events: &Events,
) -> Result<Begun, RunError> {
    let run = find_run(&store.reader()?, asked, fingerprint)?;
    let lock = store.lock_run(&run.id)?;
    // Whoever held the lock until now may have completed it.
    let mut run = find_run(&store.reader()?, Some(run.id), fingerprint)?;
    run.stopped = None;
    store.update_run(&run, RunState::Running).await?;
    let progress = Progress::read(&store.reader()?, &run, events)?;
    Ok(Begun { run, lock, progress })
}

/// What an earlier process of the same run left.
#[derive(Default)]
pub(super) struct Progress {
    pub(super) finished: HashSet<Slot>,
    pub(super) tried: HashMap<Slot, Tried>,
    /// Iterations that stayed invalid.
    pub(super) invalid: u64,
}

impl Progress {
    fn read(reader: &Reader, run: &RunRecord, events: &Events) -> Result<Self, StoreError> {
        let stored = reader.progress(&run.id)?;
        let mut invalid = 0;
        let mut failed = None;
        reader.for_each_attempt(&run.id, AttemptFilter::RESULTS, &mut |attempt| {
            invalid += u64::from(matches!(attempt.outcome, Outcome::Invalid(_)));
            let key = AttemptKey::of(&attempt);
            events.say(Event::finished(&attempt));
            if run.judge.is_none() {
                return std::ops::ControlFlow::Continue(());
            }
            match reader.judgement(&run.id, key, None) {
                Ok(judgement) => {
                    // One on which the judge failed is judged again.
                    let settled = judgement.filter(Judgement::is_settled);
                    let judged = settled.and_then(|judgement| Event::judged(key, &attempt, &judgement));
                    judged.into_iter().for_each(|event| events.say(event));
                    std::ops::ControlFlow::Continue(())
                }
                Err(error) => {
                    failed = Some(error);
                    std::ops::ControlFlow::Break(())
                }
            }
        })?;
        if let Some(error) = failed {
            return Err(error);
        }
        let slot = |(cell, iteration)| Slot { cell, iteration };
        Ok(Self {
            finished: stored.finished.into_iter().map(slot).collect(),
            tried: stored
                .unfinished
                .into_iter()
                .map(|(key, left)| {
                    (
                        slot(key),
                        Tried {
                            attempts: left.next_attempt.saturating_sub(1),
                            spent: left.spent,
                        },
                    )
                })
                .collect(),
            invalid,
        })
    }
}

fn find_run(reader: &Reader, asked: Option<RunId>, fingerprint: &str) -> Result<RunRecord, RunError> {
    let id = match asked {
        Some(id) => id,
        None => reader
            .latest_held_run()?
            .ok_or_else(|| RunError::Resume("there is no run in the store".to_owned()))?,
    };
    let Some((record, state)) = reader.run(&id)? else {
        return Err(RunError::Resume(format!(
            "there is no run {id} in the store; `mcproctor list` shows those there are"
        )));
    };
    if let Some(from) = &record.graded_from {
        return Err(RunError::Resume(format!(
            "the run {id} was graded from {from}: it judges recordings and has nothing to go on with"
        )));
    }
    // Of a complete run the judge may have left something.
    let unjudged = record.judge.is_some() && reader.unjudged(&id)? > 0;
    if state == RunState::Completed && !unjudged {
        return Err(RunError::Resume(format!("the run {id} is complete")));
    }
    if record.config_sha256 != fingerprint {
        return Err(RunError::Resume(format!(
            "the config or the test cases have changed since the run {id} began; \
             give the same -i, --agent and --filter as then, or start a new run"
        )));
    }
    Ok(record)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may fail by panicking")]

    use serde_json::json;

    use super::*;

    fn run(id: &str, started_at_unix_ms: i64, graded_from: Option<&str>) -> RunRecord {
        serde_json::from_value(json!({
            "id": id, "version": "0.1.0", "startedAtUnixMs": started_at_unix_ms, "configFile": "eval.yaml",
            "configSha256": "same", "servers": [], "agents": [], "testCases": [], "iterations": 1, "maxAttempts": 1,
            "seed": 1, "notices": [], "gradedFrom": graded_from,
        }))
        .unwrap()
    }

    #[tokio::test]
    async fn a_run_that_was_graded_is_passed_over_and_refused_by_name_for_what_it_is() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(folder.path()).unwrap();
        for run in [run("held", 1, None), run("graded", 2, Some("held"))] {
            store.create_run(&run).await.unwrap();
            store.set_state(&run.id, RunState::Aborted).await.unwrap();
        }
        let reader = store.reader().unwrap();
        assert_eq!(find_run(&reader, None, "same").unwrap().id.as_str(), "held");
        let refused = find_run(&reader, Some(RunId::new("graded")), "another").unwrap_err();
        assert_eq!(
            refused.to_string(),
            "resume: the run graded was graded from held: it judges recordings and has nothing to go on with"
        );
    }
}
