//! Judges a stored run against test cases as they are now, and stores what comes out as a run of its own.

use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::Arc;

use futures_util::StreamExt;
use mcproctor_proto::evidence::EvidenceKind;
use mcproctor_proto::id::RunId;
use sha2::{Digest, Sha256};
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;

use super::error::RunError;
use super::plan::run_id;
use super::reporting::ReportWriter;
use super::thresholds::shortfalls_of;
use crate::clock::Clock;
use crate::config::ReportSettings;
use crate::event::{AttemptKey, Event, Events};
use crate::grade::{Change, Changes, Graded, Pairing, Recorded, grade_attempt, pair};
use crate::judge::Judgement;
use crate::outcome::Outcome;
use crate::record::{AttemptRecord, RunRecord, RunState, TestCaseRecord};
use crate::store::{AttemptFilter, Reader, Store, StoreError};
use crate::testcase::{TestCase, fingerprint};
use crate::threshold::{Shortfall, Thresholds};
use crate::validation::compares_arguments;

/// Iterations on their way to the store at once: enough that many share a sync, few enough to hold in memory.
const AT_ONCE: usize = 128;

/// What is judged again, and where what comes of it goes.
pub struct GradeSetup {
    /// The run; for one that was graded itself, the recordings are those of the run that it was graded from.
    pub run: RunId,
    /// The test cases as they are now.
    pub cases: Vec<TestCase>,
    /// Where the store is and which reports are written.
    pub report: ReportSettings,
    /// What the results have to reach; what the run itself had to reach does not count.
    pub thresholds: Thresholds,
}

/// What came of it.
#[derive(Clone, Debug)]
pub struct Regraded {
    /// The run whose recordings were judged.
    pub from: RunId,
    /// The run that holds the results as they are now.
    pub run: RunId,
    /// What came out differently.
    pub changes: Changes,
    /// Test cases that are on one side only.
    pub pairing: Pairing,
    /// Results that are invalid now.
    pub invalid: u64,
    /// Its report.
    pub report: PathBuf,
    /// Thresholds that are not met; none are looked at when the run did not complete.
    pub shortfalls: Vec<Shortfall>,
}

/// Judges a stored run. Nothing in it changes: what comes out is a run of its own, marked as graded from it.
///
/// # Errors
/// [`RunError::Grade`] when there is nothing to judge, and whatever store and reports refuse.
pub async fn grade(setup: GradeSetup, events: Events, clock: Arc<dyn Clock>) -> Result<Regraded, RunError> {
    let GradeSetup {
        run: id,
        cases,
        report,
        thresholds,
    } = setup;
    // Only a folder that has a store: grading makes none.
    let reader = Reader::open(&report.out_dir)?;
    let (then, state) = held_run(&reader, id)?;
    let now: Vec<TestCaseRecord> = cases.iter().map(TestCaseRecord::from).collect();
    let pairing = pair(&then, &now);
    if pairing.graded.is_empty() {
        return Err(RunError::Grade(format!(
            "no test case of the run {} can be judged: {}",
            then.id,
            pairing.not_graded.join("; ")
        )));
    }
    let reader = {
        let id = then.id.clone();
        let checked = tokio::task::spawn_blocking(move || readable(&reader, &id).map(|()| reader));
        checked.await.map_err(RunError::Schedule)??
    };
    let run = RunRecord {
        thresholds,
        ..graded_run(&then, &cases, &pairing, clock.now_unix_ms())
    };
    let store = Store::open(&report.out_dir)?;
    store.create_run(&run).await?;

    let (sender, records) = mpsc::channel(AT_ONCE);
    let judging = {
        let (then, pairing) = (then.clone(), pairing.clone());
        tokio::task::spawn_blocking(move || judge_all(&reader, &then, &pairing, &sender))
    };
    let storing = ReceiverStream::new(records)
        .map(|iteration| store_iteration(&store, &run.id, iteration, &events))
        .buffer_unordered(AT_ONCE);
    let mut storing = std::pin::pin!(storing);
    while let Some(stored) = storing.next().await {
        stored?;
    }
    let (changes, invalid) = judging.await.map_err(RunError::Schedule)??;

    // A run that was not complete has not become so.
    let state = match state {
        RunState::Completed => RunState::Completed,
        RunState::Running | RunState::Aborted => RunState::Aborted,
    };
    store.set_state(&run.id, state).await?;
    events.say(Event::RunStarted {
        run: Box::new(run.clone()),
        already: 0,
    });
    let report = ReportWriter::new(store.clone(), run.clone(), report, clock)
        .write(state)
        .await?;
    events.say(Event::ReportWritten {
        path: report.display().to_string(),
    });
    events.say(Event::RunFinished {
        run: run.id.clone(),
        state,
    });
    let shortfalls = match state {
        RunState::Completed => shortfalls_of(&run, &store.reader()?.tallies(&run.id)?),
        RunState::Running | RunState::Aborted => Vec::new(),
    };
    // Everything is durable without it; whoever copies the database file alone has all of it with it.
    let _ = store.checkpoint().await;
    Ok(Regraded {
        from: then.id,
        run: run.id.clone(),
        changes,
        pairing,
        invalid,
        report,
        shortfalls,
    })
}

/// The run, or the one that it was graded from: recordings are judged as they were made.
fn held_run(reader: &Reader, id: RunId) -> Result<(RunRecord, RunState), RunError> {
    let found = |id: RunId| -> Result<_, RunError> {
        let missing = || format!("there is no run {id} in the store; `mcproctor list` shows those there are");
        reader.run(&id)?.ok_or_else(|| RunError::Grade(missing()))
    };
    let (run, state) = found(id)?;
    match run.graded_from {
        // What is graded is a run that was held, so this one was.
        Some(from) => found(from),
        None => Ok((run, state)),
    }
}

/// Reads every attempt once: a run of which one is damaged is refused before anything of the new one is stored.
fn readable(reader: &Reader, run: &RunId) -> Result<(), StoreError> {
    reader.for_each_attempt(run, AttemptFilter::ALL, &mut |_| ControlFlow::Continue(()))
}

/// The attempts of one iteration, one after another: the store takes nothing of an iteration that has its result.
async fn store_iteration(
    store: &Store,
    run: &RunId,
    attempts: Vec<(AttemptRecord, Judgement)>,
    events: &Events,
) -> Result<(), StoreError> {
    for (record, judgement) in attempts {
        store.put_attempt(run, 1, &record).await?;
        if !judgement.is_empty() {
            store.put_judgement(run, AttemptKey::of(&record), &judgement).await?;
        }
        if record.last {
            let judged = Event::judged(AttemptKey::of(&record), &record, &judgement);
            events.say(Event::finished(&record));
            judged.into_iter().for_each(|event| events.say(event));
        }
    }
    Ok(())
}

fn graded_run(then: &RunRecord, cases: &[TestCase], pairing: &Pairing, now_unix_ms: i64) -> RunRecord {
    let mut hash = Sha256::new();
    hash.update(&then.config_sha256);
    hash.update(fingerprint(cases));
    let mut notices = then.notices.clone();
    notices.push(format!(
        "graded from {}: its recordings, judged against the test cases as they were later",
        then.id
    ));
    notices.extend(pairing.not_graded.iter().map(|why| format!("not graded: {why}")));
    RunRecord {
        id: run_id(now_unix_ms),
        config_sha256: hex::encode(hash.finalize()),
        test_cases: pairing.graded.iter().map(|(_, case)| case.clone()).collect(),
        notices,
        graded_from: Some(then.id.clone()),
        ..then.clone()
    }
}

/// Judges every attempt in order and hands it on, iteration by iteration. Gives what changed, and how many results are
/// invalid.
fn judge_all(
    reader: &Reader,
    then: &RunRecord,
    pairing: &Pairing,
    records: &mpsc::Sender<Vec<(AttemptRecord, Judgement)>>,
) -> Result<(Changes, u64), StoreError> {
    let mut changes = Changes::default();
    let mut invalid = 0;
    let mut iteration: Vec<(AttemptRecord, Judgement)> = Vec::new();
    let until_now = AttemptFilter::ALL.up_to(reader.watermark()?);
    reader.for_each_attempt(&then.id, until_now, &mut |attempt| {
        let paired = pairing.cell(then, attempt.cell);
        let Some(((cell, case), was)) = paired.zip(then.test_case_of(attempt.cell as usize)) else {
            return ControlFlow::Continue(());
        };
        let (old_cell, before) = (attempt.cell, attempt.outcome);
        let Graded {
            mut record,
            judgement,
            not_comparable,
        } = judge(reader, then, attempt, was, case);
        record.cell = cell;
        if record.last {
            let changed = record.outcome != before || not_comparable;
            changes.add(changed.then(|| {
                Change {
                    agent: then
                        .agent_of(old_cell as usize)
                        .map(|it| it.name.clone())
                        .unwrap_or_default(),
                    test_case: case.name.clone(),
                    iteration: record.iteration,
                    before,
                    after: record.outcome,
                    why: record.reason.clone(),
                    not_comparable,
                }
            }));
            invalid += u64::from(matches!(record.outcome, Outcome::Invalid(_)));
        }
        let of_another = iteration
            .last()
            .is_some_and(|(earlier, _)| (earlier.cell, earlier.iteration) != (record.cell, record.iteration));
        let complete = if of_another {
            std::mem::take(&mut iteration)
        } else {
            Vec::new()
        };
        iteration.push((record, judgement));
        // Whoever stores them ends early only with an error of its own.
        if complete.is_empty() || records.blocking_send(complete).is_ok() {
            ControlFlow::Continue(())
        } else {
            ControlFlow::Break(())
        }
    })?;
    let _ = records.blocking_send(iteration);
    Ok((changes, invalid))
}

/// Attempts that another one followed are kept as they were. What is missing or damaged beside the record is as if it had
/// never been stored: the expectation that needs it then says that it could not be checked.
fn judge(
    reader: &Reader,
    then: &RunRecord,
    attempt: AttemptRecord,
    was: &TestCaseRecord,
    case: &TestCaseRecord,
) -> Graded {
    let judgement = reader.judgement(&then.id, AttemptKey::of(&attempt), None);
    let judgement = judgement.ok().flatten().unwrap_or_default();
    if !attempt.last {
        return Graded {
            record: attempt,
            judgement,
            not_comparable: false,
        };
    }
    let calls = attempt.evidence.iter().find(|piece| piece.kind == EvidenceKind::Calls);
    let calls = calls
        .filter(|_| compares_arguments(case, &attempt.calls))
        .and_then(|piece| reader.evidence(&piece.sha256).ok().flatten());
    let recorded = Recorded {
        record: attempt,
        judgement,
        case: was,
    };
    grade_attempt(recorded, case, calls.as_deref())
}
