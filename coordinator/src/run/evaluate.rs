//! Wires one evaluation.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use mcproctor_proto::id::RunId;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::begin::{Begun, begin, go_on};
use super::budget::budget_left;
use super::error::RunError;
use super::plan::{PlannedRun, fingerprint_of_run};
use super::reporting::ReportWriter;
use super::thresholds::shortfalls_of;
use super::workers::{WorkerCommand, Workers};
use crate::clock::Clock;
use crate::config::Config;
use crate::event::{Event, Events};
use crate::judge::{Judge, Judging};
use crate::plan::Plan;
use crate::record::{RunRecord, RunState};
use crate::rpc::{RpcServer, Tokens};
use crate::scheduler::{self, Finished, Input, Settings, State, Work};
use crate::shutdown::Shutdown;
use crate::store::Store;
use crate::testcase::TestCase;
use crate::threshold::Shortfall;

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
    /// The report that people are shown.
    pub report: PathBuf,
    /// Thresholds that were not met; none are looked at in a run that did not complete.
    pub shortfalls: Vec<Shortfall>,
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
    let store = Store::open(&config.report.out_dir)?;
    let judge = match &config.judge {
        Some(settings) => Some(Judge::new(settings, config.redactor(), Arc::clone(&clock))?),
        None => None,
    };
    // It has to hear of what an earlier process of the run finished, too.
    let heard_by_judge = judge.is_some().then(|| events.listen());
    let Begun {
        mut run,
        lock,
        progress,
    } = match resume {
        None => begin(&store, planned.record).await?,
        Some(asked) => go_on(&store, asked, &fingerprint_of_run(&config, &cases), &events).await?,
    };
    // A resumed run is held against what is asked of it now.
    run.thresholds = config.run.thresholds;
    let invalid_before = progress.invalid;
    let budget = budget_left(&config, &store.reader()?, &run.id)?;
    let heard_only_by_others = events.clone();
    let listened = events.listen();
    events.say(Event::RunStarted {
        run: Box::new(run.clone()),
        already: progress.finished.len() as u64,
    });
    let reports = ReportWriter::new(store.clone(), run.clone(), config.report.clone(), Arc::clone(&clock));
    let stop_reporting = CancellationToken::new();
    let live = reports
        .clone()
        .keep_writing(listened, heard_only_by_others, stop_reporting.clone());
    let reporting = tokio::spawn(live);
    let judging = match (&judge, heard_by_judge) {
        (Some(judge), Some(heard)) => Some(Judging::start(
            judge.clone(),
            run.clone(),
            store.clone(),
            heard,
            events.clone(),
        )?),
        _ => None,
    };

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
    let state = State::new(plan, settings, progress.finished, progress.tried, clock.now_unix_ms()).within(budget);
    let work = Arc::new(Work {
        run: run.clone(),
        agents: config.run.agents.clone(),
        servers: config.servers.clone(),
        resources: config.run.sandbox.resources,
        turn_timeout: config.run.turn_timeout,
        idle_timeout: config.run.turn_timeout.min(LONGEST_SILENCE),
        heartbeat: HEARTBEAT,
        lease: LEASE,
        debug,
        judge,
        prices: config.prices.clone(),
        limits: config.run.limits,
        gateway: config.run.gateway.clone(),
        blinded: config.blinded_keys(),
    });
    let schedule = tokio::spawn(scheduler::run(
        work,
        state,
        store.clone(),
        events.clone(),
        Arc::clone(&clock),
        receiver,
    ));
    let mut stop_waiting = shutdown.clone();
    let stopping = tokio::spawn(pass_on(shutdown, inputs));

    let finished = schedule.await.map_err(RunError::Schedule)?;
    stopping.abort();
    children.end().await;
    rpc.stop(RPC_GRACE).await;
    let mut finished = finished?;
    // Those of earlier processes of the run are as invalid as this one's.
    finished.invalid += invalid_before;
    if let Some(judging) = judging {
        match judging.finish(async { drop(stop_waiting.asked().await) }).await {
            Ok(not_waited_for) => finished.cancelled |= not_waited_for,
            // What it had stored is there, and no result depends on it.
            Err(error) => events.say(Event::Notice {
                text: format!("the judge broke off: {error}"),
            }),
        }
    }

    let state = if finished.stopped.is_none() {
        RunState::Completed
    } else {
        RunState::Aborted
    };
    let run = RunRecord {
        stopped: finished.stopped.clone(),
        ..run
    };
    store.update_run(&run, state).await?;
    stop_reporting.cancel();
    // The last live report has to be done before the final one replaces it; a panic in it spoils no result.
    let _ = reporting.await;
    let report = reports.about(run.clone()).write(state).await?;
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
    drop(lock);
    Ok(Ending {
        run: run.id,
        state,
        finished,
        report,
        shortfalls,
    })
}

/// Hands a stop that the user asks for to the schedule.
async fn pass_on(mut shutdown: Shutdown, inputs: mpsc::Sender<Input>) {
    let reason = shutdown.asked().await;
    // A schedule that is over needs no stop.
    let _ = inputs.send(Input::Cancel { reason }).await;
}
