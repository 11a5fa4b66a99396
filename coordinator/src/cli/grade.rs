//! `mcproctor grade`: stored recordings, judged against test cases as they are now.

use std::io::Write as _;
use std::path::PathBuf;
use std::sync::Arc;

use tokio::sync::mpsc;

use super::exit::Exit;
use super::inputs;
use super::named::{self, NotFound};
use super::run::complain_of;
use super::runtime::{block_on, chain, complain};
use crate::clock::{Clock, SystemClock};
use crate::event::Events;
use crate::run::{GradeSetup, Regraded, RunError, grade};
use crate::store::Reader;
use crate::ui;
use crate::ui::{Mode, Options};
use crate::unseen::harmless;
use crate::words::counted;

/// Arguments of `mcproctor grade`.
#[derive(Debug, clap::Args)]
pub(super) struct GradeArgs {
    /// The run whose recordings are judged: an id, the beginning of one, or `latest`.
    #[arg(value_name = "RUN")]
    run: String,
    /// The config file whose test cases they are judged against, and whose report.outDir holds the run.
    #[arg(short, long, value_name = "FILE", default_value = "./eval.yaml")]
    config: PathBuf,
}

pub(super) fn run(args: &GradeArgs) -> Exit {
    match setup(args) {
        Ok(setup) => block_on(graded(setup)),
        Err(exit) => exit,
    }
}

fn setup(args: &GradeArgs) -> Result<GradeSetup, Exit> {
    let config = inputs::config(&args.config)?;
    let cases = inputs::cases(&config)?;
    let run = Reader::open(&config.report.out_dir)
        .map_err(NotFound::from)
        .and_then(|reader| named::find(&reader, &args.run))
        .map_err(|error| complain(error.exit(), &format!("failed to {}", chain(&error))))?;
    Ok(GradeSetup {
        run: run.id,
        cases,
        report: config.report,
        thresholds: config.run.thresholds,
    })
}

async fn graded(setup: GradeSetup) -> Exit {
    let clock: Arc<dyn Clock> = Arc::new(SystemClock);
    let mut events = Events::new(Arc::clone(&clock));
    // There is nothing to stop: it takes moments and changes nothing that was there.
    let (stop, _nobody_stops) = mpsc::unbounded_channel();
    let options = Options {
        stop,
        resume: None,
        clock: Arc::clone(&clock),
    };
    let view = match ui::start(Mode::Plain, events.listen(), options) {
        Ok(view) => view,
        Err(error) => return complain(Exit::Failure, &format!("failed to start the output: {error}")),
    };
    let result = grade(setup, events, clock).await;
    // What the view could not write, nobody can read: the exit code still tells.
    let _ = view.finished().await;
    match result {
        Ok(regraded) => conclude(&regraded),
        Err(error @ RunError::Grade(_)) => complain(Exit::Usage, &format!("failed to {error}")),
        Err(error) => complain(Exit::Failure, &format!("failed to {}", chain(&error))),
    }
}

fn conclude(regraded: &Regraded) -> Exit {
    let summary = regraded.changes.summary();
    let mut text = format!("\ngraded {} as {}: {summary}\n", regraded.from, regraded.run);
    let pairing = &regraded.pairing;
    let lines = regraded.changes.lines().into_iter();
    let not_graded = pairing.not_graded.iter().map(|why| format!("not graded: {why}"));
    let not_recorded = pairing.not_recorded.iter().map(|why| format!("not recorded: {why}"));
    for line in lines.chain(not_graded).chain(not_recorded) {
        // Names and reasons come from a stranger's server: what a terminal would obey is not passed on.
        text.extend(line.chars().map(harmless));
        text.push('\n');
    }
    let written = std::io::stdout().lock().write_all(text.as_bytes());
    complain_of(&regraded.shortfalls);
    let exit = match regraded.invalid {
        0 if !regraded.shortfalls.is_empty() => Exit::Threshold,
        0 => Exit::Success,
        invalid => complain(
            Exit::Failure,
            &format!("{} invalid; the report says why", counted(invalid, "result")),
        ),
    };
    match written {
        Ok(()) => exit,
        Err(_) => exit.min(Exit::Failure),
    }
}
