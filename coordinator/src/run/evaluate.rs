//! Wires one evaluation.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use mcproctor_proto::id::RunId;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::plan::{PlannedRun, fingerprint_of_run};
use super::reporting::{LiveReport, write};
use super::workers::{WorkerCommand, Workers};
use crate::clock::Clock;
use crate::config::Config;
use crate::event::{AttemptKey, Event, Events};
use crate::outcome::Outcome;
use crate::plan::{Plan, Slot};
use crate::record::{RunRecord, RunState};
use crate::report::{ReportError, Written};
use crate::rpc::{RpcError, RpcServer, Tokens};
use crate::scheduler::{self, Finished, Input, Settings, State, Tried, Work};
use crate::shutdown::Shutdown;
use crate::store::{AttemptFilter, Reader, Store, StoreError};
use crate::testcase::TestCase;

/// How often workers renew their leases.
const HEARTBEAT: Duration = Duration::from_secs(2);
/// How long a lease lasts without.
const LEASE: Duration = Duration::from_secs(20);
/// The longest that an agent may be silent with nothing outstanding.
const LONGEST_SILENCE: Duration = Duration::from_secs(120);
/// How long open calls may take to end once the run is over.
const RPC_GRACE: Duration = Duration::from_secs(2);

/// What an evaluation is made of.
pub struct Setup {
    /// The resolved config.
    pub config: Config,
    /// The test cases, filtered.
    pub cases: Vec<TestCase>,
    /// What is going to be done; for a resumed run, taken from the store instead.
    pub planned: PlannedRun,
    /// The run to go on with, or `Some(None)` for the newest one.
    pub resume: Option<Option<RunId>>,
    /// How worker processes are started.
    pub worker: WorkerCommand,
    /// How many of them.
    pub workers: u32,
    /// Log the headers of proxied requests.
    pub debug: bool,
}

/// How an evaluation ended.
#[derive(Clone, Debug)]
pub struct Ending {
    /// The run.
    pub run: RunId,
    /// How it stands.
    pub state: RunState,
    /// How its schedule ended.
    pub finished: Finished,
    /// The reports.
    pub written: Written,
}

/// Why an evaluation could not be carried through.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The store failed; what it acknowledged is safe.
    #[error("{0}")]
    Store(#[from] StoreError),
    /// The services could not be offered.
    #[error("{error}: {}", source_of(.error))]
    Rpc {
        /// Why.
        #[from]
        error: RpcError,
    },
    /// The reports could not be written; the results are in the store.
    #[error("{0}; the results are in the store")]
    Report(#[from] ReportError),
    /// A folder could not be made.
    #[error("make a folder for the coordinator's socket: {0}")]
    Folder(std::io::Error),
    /// There is no such run to go on with.
    #[error("resume: {0}")]
    Resume(String),
    /// The schedule's own code failed.
    #[error("run the schedule: {0}")]
    Schedule(tokio::task::JoinError),
}

fn source_of(error: &RpcError) -> String {
    std::error::Error::source(error)
        .map(ToString::to_string)
        .unwrap_or_default()
}

/// Runs an evaluation to its end, whatever that is, and writes its reports.
///
/// # Errors
/// When it cannot be begun, when a result cannot be made durable, or when the reports cannot be written.
pub async fn evaluate(
    setup: Setup,
    mut events: Events,
    clock: Arc<dyn Clock>,
    shutdown: Shutdown,
) -> Result<Ending, RunError> {
    let Setup {
        config,
        cases,
        planned,
        resume,
        worker,
        workers,
        debug,
    } = setup;
    let out_dir = config.report.out_dir.clone();
    let store = Store::open(&out_dir)?;
    let (run, lock, progress) = match resume {
        None => {
            let lock = store.lock_run(&planned.record.id)?;
            store.create_run(&planned.record).await?;
            (planned.record, lock, Progress::default())
        }
        Some(asked) => {
            let fingerprint = fingerprint_of_run(&config, &cases);
            let run = find_run(&store.reader()?, asked, &fingerprint)?;
            let lock = store.lock_run(&run.id)?;
            // Whoever held the lock until now may have completed it.
            let run = find_run(&store.reader()?, Some(run.id), &fingerprint)?;
            store.set_state(&run.id, RunState::Running).await?;
            let progress = Progress::read(&store.reader()?, &run, &events)?;
            (run, lock, progress)
        }
    };
    let invalid_before = progress.invalid;
    let heard_only_by_others = events.clone();
    let listened = events.listen();
    events.say(Event::RunStarted {
        run: Box::new(run.clone()),
        already: progress.finished.len() as u64,
    });
    let live = LiveReport {
        events: heard_only_by_others,
        store: store.clone(),
        run: run.clone(),
        folder: out_dir.clone(),
        clock: Arc::clone(&clock),
        stop: CancellationToken::new(),
    };
    let stop_reporting = live.stop.clone();
    let reporting = tokio::spawn(live.keep_writing(listened));

    let (inputs, receiver) = mpsc::channel(1_024);
    let tokens = Tokens::default();
    let socket_folder = tempfile::Builder::new()
        .prefix("mcproctor-")
        .tempdir()
        .map_err(RunError::Folder)?;
    let rpc = RpcServer::on_unix_socket(socket_folder.path(), tokens.clone(), inputs.clone(), store.clone())?;
    let children = Workers::start(&worker, rpc.socket(), &tokens, &inputs, workers, planned.concurrency);

    let settings = Settings {
        max_attempts: run.max_attempts,
        concurrency: planned.concurrency,
        lease_ms: i64::try_from(LEASE.as_millis()).unwrap_or(i64::MAX),
    };
    let cells = u32::try_from(run.cells()).unwrap_or(u32::MAX);
    let plan = Plan::new(cells, run.iterations, run.seed);
    let state = State::new(plan, settings, progress.finished, progress.tried, clock.now_unix_ms());
    let work = Arc::new(Work {
        run: run.clone(),
        agents: config.run.agents.clone(),
        servers: config.servers.clone(),
        sandbox: config.run.sandbox,
        turn_timeout: config.run.turn_timeout,
        idle_timeout: config.run.turn_timeout.min(LONGEST_SILENCE),
        heartbeat: HEARTBEAT,
        lease: LEASE,
        debug,
    });
    let schedule = tokio::spawn(scheduler::run(
        work,
        state,
        store.clone(),
        events.clone(),
        Arc::clone(&clock),
        receiver,
    ));
    let stopping = tokio::spawn(pass_on(shutdown, inputs));

    let finished = schedule.await.map_err(RunError::Schedule)?;
    stopping.abort();
    children.end().await;
    rpc.stop(RPC_GRACE).await;
    let mut finished = finished?;
    // Those of earlier processes of the run are as invalid as this one's.
    finished.invalid += invalid_before;

    let state = if finished.stopped.is_none() {
        RunState::Completed
    } else {
        RunState::Aborted
    };
    store.set_state(&run.id, state).await?;
    stop_reporting.cancel();
    // The last live report has to be done before the final one replaces it; a panic in it spoils no result.
    let _ = reporting.await;
    let written = write(&store, &run, state, &out_dir, &clock).await?;
    events.say(Event::ReportWritten {
        path: written.html.display().to_string(),
    });
    events.say(Event::RunFinished {
        run: run.id.clone(),
        state,
    });
    drop(lock);
    Ok(Ending {
        run: run.id,
        state,
        finished,
        written,
    })
}

/// Hands a stop that the user asks for to the schedule.
async fn pass_on(mut shutdown: Shutdown, inputs: mpsc::Sender<Input>) {
    let reason = shutdown.asked().await;
    // A schedule that is over needs no stop.
    let _ = inputs.send(Input::Cancel { reason }).await;
}

/// What an earlier process of the same run left.
#[derive(Default)]
struct Progress {
    finished: HashSet<Slot>,
    tried: HashMap<Slot, Tried>,
    /// Iterations that stayed invalid.
    invalid: u64,
}

impl Progress {
    fn read(reader: &Reader, run: &RunRecord, events: &Events) -> Result<Self, StoreError> {
        let stored = reader.progress(&run.id)?;
        let mut invalid = 0;
        reader.for_each_attempt(&run.id, AttemptFilter::RESULTS, &mut |attempt| {
            invalid += u64::from(matches!(attempt.outcome, Outcome::Invalid(_)));
            events.say(Event::AttemptFinished {
                key: AttemptKey {
                    cell: attempt.cell,
                    iteration: attempt.iteration,
                    attempt: attempt.attempt,
                },
                outcome: attempt.outcome,
                reason: attempt.reason,
                last: true,
                duration_ms: attempt.duration_ms,
            });
            std::ops::ControlFlow::Continue(())
        })?;
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
        None => {
            let head = reader
                .latest_run()?
                .ok_or_else(|| RunError::Resume("there is no run in the store".to_owned()))?;
            head.id
        }
    };
    let Some((record, state)) = reader.run(&id)? else {
        return Err(RunError::Resume(format!(
            "there is no run {id} in the store; `mcproctor list` shows those there are"
        )));
    };
    if state == RunState::Completed {
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
