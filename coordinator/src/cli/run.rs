//! `mcproctor run`: one evaluation.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::ValueEnum;
use mcproctor_proto::agent::AgentKind;
use mcproctor_proto::assignment::SandboxLevel;
use mcproctor_proto::id::RunId;
use mcproctor_worker::sandbox::keep_to_itself;

use super::agents::{
    about_sandboxes, agent_versions, machine, pinned_image, without_answers, without_judge, without_sandbox,
    without_usage,
};
use super::cost::{UsualCost, cost_of_the_newest};
use super::exit::Exit;
use super::inputs;
use super::inspect::{InspectError, inspect, not_offered, unknown_arguments};
use super::let_in::ask_the_gateway;
use super::limits::out_of_control;
use super::resume::{self, Earlier};
use super::runtime::{block_on, chain, complain};
use crate::clock::{Clock, SystemClock};
use crate::config::{Config, Overrides};
use crate::event::{Event, Events};
use crate::limits::Limits;
use crate::record::{RunRecord, RunState};
use crate::run::{Ending, RunError, Setup, WorkerCommand, evaluate, plan};
use crate::shutdown;
use crate::testcase::TestCase;
use crate::threshold::{Measure, Share, Shortfall, out_of_reach};
use crate::ui;
use crate::ui::{Mode, Options, OutputChoice, Surroundings, restore_terminal};
use crate::words::counted;

/// Arguments of `mcproctor run`, and of `mcproctor` without a command.
#[derive(Debug, clap::Args)]
pub(super) struct RunArgs {
    /// The config file.
    #[arg(short, long, value_name = "FILE", default_value = "./eval.yaml")]
    config: PathBuf,
    /// Executions of each test case with each agent, in place of run.iterations.
    #[arg(short, long, value_name = "N")]
    iterations: Option<u32>,
    /// Run only this agent; may be given more than once.
    #[arg(long = "agent", value_name = "NAME")]
    agents: Vec<String>,
    /// Run only test cases with this text in their name or file; may be given more than once.
    #[arg(long, value_name = "TEXT")]
    filter: Vec<String>,
    /// Iterations at once, in place of run.concurrency; the number of cores by default.
    #[arg(long, value_name = "N")]
    concurrency: Option<u32>,
    /// Worker processes that share the iterations.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=256))]
    workers: u32,
    /// Exit with 1 when an agent's suite stays below this: `0.9` or `90%`; in place of run.thresholds.suite.
    #[arg(long, value_name = "SHARE")]
    min_pass_rate: Option<Share>,
    /// What has to reach a threshold, in place of run.thresholds.on: the rate, or the lower end of its range.
    #[arg(long, value_name = "WHAT")]
    threshold_on: Option<ThresholdOn>,
    /// Look at no threshold, to try something out with few iterations.
    #[arg(long, conflicts_with_all = ["min_pass_rate", "threshold_on"])]
    no_thresholds: bool,
    /// Go on with a run that was stopped or killed: the newest one, or the one named.
    #[arg(long, value_name = "RUN")]
    resume: Option<Option<String>>,
    /// What to show: a live view, plain lines, or a JSON object a line.
    #[arg(long, value_name = "FORM")]
    output: Option<Output>,
    /// Log the headers of every proxied request to <report.outDir>/mcproctor-debug.log. Contains secrets.
    #[arg(long)]
    debug: bool,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(super) enum Output {
    Tui,
    Plain,
    Json,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum ThresholdOn {
    Rate,
    #[value(alias = "lowerEnd")]
    LowerEnd,
}

impl From<ThresholdOn> for Measure {
    fn from(on: ThresholdOn) -> Self {
        match on {
            ThresholdOn::Rate => Self::Rate,
            ThresholdOn::LowerEnd => Self::LowerEnd,
        }
    }
}

impl From<Output> for OutputChoice {
    fn from(output: Output) -> Self {
        match output {
            Output::Tui => Self::Tui,
            Output::Plain => Self::Plain,
            Output::Json => Self::Json,
        }
    }
}

pub(super) fn run(args: RunArgs) -> Exit {
    let config = match inputs::config(&args.config) {
        Ok(config) => config,
        Err(exit) => return exit,
    };
    let overrides = Overrides {
        iterations: args.iterations,
        agents: args.agents.clone(),
        concurrency: args.concurrency,
        min_pass_rate: args.min_pass_rate,
        threshold_on: args.threshold_on.map(Into::into),
        no_thresholds: args.no_thresholds,
    };
    let mut config = match config.with_overrides(&overrides) {
        Ok(config) => config,
        Err(error) => return complain(Exit::Usage, &error.to_string()),
    };
    let cases = match inputs::cases(&config) {
        Ok(cases) => cases,
        Err(exit) => return exit,
    };
    let mut cases: Vec<TestCase> = match &args.filter[..] {
        [] => cases,
        parts => cases
            .into_iter()
            .filter(|case| parts.iter().any(|part| case.matches(part)))
            .collect(),
    };
    if cases.is_empty() {
        return complain(Exit::Usage, "no test case has the text of --filter in its name or file");
    }
    let mismatch = without_answers(&config, &cases)
        .or_else(|| without_usage(&config, &cases))
        .or_else(|| without_judge(&config, &cases))
        .or_else(|| out_of_control(&config));
    if let Some(problem) = mismatch {
        return complain(Exit::Usage, &problem);
    }
    let earlier = args
        .resume
        .as_ref()
        .and_then(|asked| resume::find(&config.report.out_dir, asked.as_deref()));
    let said_again = args.iterations.is_some() || !args.agents.is_empty() || !args.filter.is_empty();
    if let Some(earlier) = earlier.as_ref().filter(|_| !said_again) {
        earlier.narrow(&mut config, &mut cases);
    }
    if let Some(problem) = out_of_reach(&config.run.thresholds, cases.len(), config.run.iterations) {
        return complain(Exit::Usage, &problem);
    }
    let invocation = Invocation {
        resume_hint: Some(resume_hint(&args)),
        earlier,
        resume: args.resume.map(|run| run.map(RunId::new)),
        workers: args.workers,
        output: args.output,
        debug: args.debug,
    };
    block_on(run_evaluation(config, cases, invocation))
}

/// The command that goes on with this run, up to the place of its id. It repeats what a resumed run has to agree with.
fn resume_hint(args: &RunArgs) -> String {
    let mut words = vec![
        "mcproctor run -c".to_owned(),
        shell_word(&args.config.to_string_lossy()),
    ];
    let mut flag = |name: &str, value: &str| words.extend([name.to_owned(), shell_word(value)]);
    if let Some(iterations) = args.iterations {
        flag("-i", &iterations.to_string());
    }
    args.agents.iter().for_each(|agent| flag("--agent", agent));
    args.filter.iter().for_each(|text| flag("--filter", text));
    if let Some(concurrency) = args.concurrency {
        flag("--concurrency", &concurrency.to_string());
    }
    if let Some(share) = args.min_pass_rate {
        flag("--min-pass-rate", &share.to_string());
    }
    if let Some(on) = args.threshold_on.and_then(|on| on.to_possible_value()) {
        flag("--threshold-on", on.get_name());
    }
    if args.no_thresholds {
        words.push("--no-thresholds".to_owned());
    }
    words.push("--resume".to_owned());
    words.join(" ")
}

/// A word as a POSIX shell reads it (Shell Command Language, section 2.2.2).
fn shell_word(text: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-._/:=@%+,".contains(c);
    if !text.is_empty() && text.chars().all(plain) {
        text.to_owned()
    } else {
        format!("'{}'", text.replace('\'', r"'\''"))
    }
}

/// How an evaluation is to be carried out, apart from its config.
pub(super) struct Invocation {
    /// The run to go on with, or `Some(None)` for the newest one.
    pub(super) resume: Option<Option<RunId>>,
    /// What is known of it.
    pub(super) earlier: Option<Earlier>,
    /// The command that goes on with a stopped run, up to the place of its id.
    pub(super) resume_hint: Option<String>,
    /// Worker processes.
    pub(super) workers: u32,
    /// What to show.
    pub(super) output: Option<Output>,
    /// Log the headers of proxied requests.
    pub(super) debug: bool,
}

/// What `run` and `demo` have in common once config and test cases are there.
pub(super) async fn run_evaluation(mut config: Config, cases: Vec<TestCase>, args: Invocation) -> Exit {
    // Credentials are in this process, too; agents in the sandbox `process` run under the same user.
    if let Err(error) = keep_to_itself() {
        return complain(Exit::Failure, &format!("failed to keep its memory to itself: {error}"));
    }
    let asking = config.clone();
    let versions = async {
        tokio::task::spawn_blocking(move || agent_versions(&asking))
            .await
            .unwrap_or_else(|error| Err(format!("failed to ask the agents' versions: {error}")))
    };
    // Agents take their time to say their version; servers are asked meanwhile.
    let machine = machine(config.levels_in_question(), config.run.sandbox.image());
    let clock: Arc<dyn Clock> = Arc::new(SystemClock);
    let asked = async { tokio::try_join!(versions, ask_servers(&config, &cases), machine) };
    let (asked, gateway) = tokio::join!(asked, ask_the_gateway(&config, clock.as_ref()));
    let (versions, warnings, machine) = match asked {
        Ok(all) => all,
        Err(message) => return complain(Exit::Failure, &message),
    };
    // A limit that is reached ends the run in its own way: with a report.
    let shut_out = gateway.into_iter().filter_map(Result::err);
    if let Some(shut_out) = shut_out
        .filter(|shut_out| shut_out.exit != Exit::Limit)
        .min_by_key(|it| it.exit)
    {
        return complain(shut_out.exit, &shut_out.message);
    }
    let sandboxes = match config.sandboxes(&machine) {
        Ok(sandboxes) => sandboxes,
        Err(error) => return complain(Exit::Usage, &error.to_string()),
    };
    // The run begins all the same: other agents may be held, and these attempts say why they are not.
    let lacking = without_sandbox(&config, &sandboxes, &machine);
    let lacking = lacking
        .into_iter()
        .map(|why| format!("{why}; its attempts will be invalid"));
    let about_sandboxes = about_sandboxes(&config, &sandboxes, &machine);
    config.notices.extend(lacking.chain(about_sandboxes));
    let image = pinned_image(&config, &sandboxes, &machine).await;
    let usual_cost = match &args.earlier {
        Some(earlier) => earlier.usual_cost.clone(),
        None => cost_of_the_newest(&config.report.out_dir, &config),
    };
    let planned = plan(
        &config,
        &cases,
        |kind| versions.get(&kind).cloned(),
        |agent| sandboxes.get(agent).copied().unwrap_or(SandboxLevel::Process),
        image.as_deref(),
        clock.now_unix_ms(),
    );
    match made(&config.report.out_dir) {
        Ok(out_dir) => config.report.out_dir = out_dir,
        Err(message) => return complain(Exit::Failure, &message),
    }
    let worker = match worker_command(&config.report.out_dir, &versions, args.debug) {
        Ok(worker) => worker,
        Err(message) => return complain(Exit::Failure, &message),
    };
    let (shutdown, stop) = match shutdown::listen(stop_at_once) {
        Ok(listening) => listening,
        Err(error) => return complain(Exit::Failure, &format!("failed to listen to signals: {error}")),
    };
    let mode = Mode::choose(args.output.map(Into::into), &Surroundings::of_this_process());
    let mut events = Events::new(Arc::clone(&clock));
    let options = Options {
        stop,
        resume: args.resume_hint,
        clock: Arc::clone(&clock),
    };
    let view = match ui::start(mode, events.listen(), options) {
        Ok(view) => view,
        Err(error) => return complain(Exit::Failure, &format!("failed to start the output: {error}")),
    };
    for text in warnings {
        events.say(Event::Notice { text });
    }
    events.say(Event::Notice {
        text: announcement(
            &planned.record,
            args.earlier.as_ref(),
            &config.run.limits,
            usual_cost.as_ref(),
        ),
    });
    let setup = Setup {
        config,
        cases,
        planned,
        resume: args.resume,
        worker,
        workers: args.workers,
        debug: args.debug,
    };
    let result = evaluate(setup, events, clock, shutdown).await;
    // What the view could not write, nobody can read: the exit code still tells.
    let _ = view.finished().await;
    conclude(result)
}

/// Makes the folder; gives its path without `..` and links, as it is shown to people.
fn made(folder: &Path) -> Result<PathBuf, String> {
    std::fs::create_dir_all(folder)
        .and_then(|()| folder.canonicalize())
        .map_err(|error| format!("failed to make the folder {}: {error}", folder.display()))
}

/// Asks every server for its tools before a conversation costs money. Gives what the user should know; fails where no
/// conversation could succeed.
async fn ask_servers(config: &Config, cases: &[TestCase]) -> Result<Vec<String>, String> {
    let mut warnings = Vec::new();
    for server in &config.servers {
        match inspect(server).await {
            Ok(probe) => {
                warnings.extend(not_offered(cases, &probe));
                warnings.extend(unknown_arguments(cases, &probe));
            }
            // An agent may get along with what this small client does not understand.
            Err(error @ InspectError::Unclear { .. }) => warnings.push(error.to_string()),
            Err(error) => return Err(error.to_string()),
        }
    }
    Ok(warnings)
}

/// How many conversations there will be, what range that can give, what they may use, and what those before cost.
fn announcement(planned: &RunRecord, earlier: Option<&Earlier>, limits: &Limits, usual: Option<&UsualCost>) -> String {
    let run = earlier.map_or(planned, |earlier| &earlier.record);
    let n = u64::from(run.iterations);
    let conversations = run
        .total_iterations()
        .saturating_sub(earlier.map_or(0, |earlier| earlier.finished));
    let more = if earlier.is_some() { "more " } else { "" };
    let within = match limits.in_words() {
        words if words.is_empty() => words,
        words => format!("; {words}"),
    };
    let cost = usual.map_or_else(String::new, |usual| {
        #[expect(clippy::cast_precision_loss, reason = "a number of conversations")]
        let all = usual.usd * conversations as f64;
        let those = match earlier {
            Some(_) => "those before".to_owned(),
            None => format!("those of the run {}", usual.run),
        };
        format!("; {those} cost ${:.4} each, which makes ${all:.2}", usual.usd)
    });
    let range = crate::stats::wilson(n, n).map_or(0.0, |range| range.low * 100.0);
    format!(
        "{}: {} × {} × {}; a test case that always passes will show {range:.0}–100% with N={n}; order seed {}{within}{cost}",
        counted(conversations, &format!("{more}conversation")),
        counted(run.test_cases.len() as u64, "test case"),
        counted(n, "iteration"),
        counted(run.agents.len() as u64, "agent"),
        run.seed,
    )
}

pub(super) fn complain_of(shortfalls: &[Shortfall]) {
    for shortfall in shortfalls {
        complain(Exit::Threshold, &format!("threshold not met: {shortfall}"));
    }
}

fn conclude(result: Result<Ending, RunError>) -> Exit {
    match result {
        Ok(ending) if ending.finished.cancelled => Exit::Interrupted,
        Ok(Ending { finished, .. }) if finished.stopped.is_some() => {
            let exit = if finished.limit_reached && finished.invalid == 0 {
                Exit::Limit
            } else {
                Exit::Failure
            };
            complain(exit, &format!("stopped: {}", finished.stopped.unwrap_or_default()))
        }
        Ok(ending) if ending.finished.invalid > 0 => {
            complain_of(&ending.shortfalls);
            complain(
                Exit::Failure,
                &format!(
                    "{} stayed invalid; the report says why",
                    counted(ending.finished.invalid, "iteration")
                ),
            )
        }
        Ok(ending) if !ending.shortfalls.is_empty() => {
            complain_of(&ending.shortfalls);
            Exit::Threshold
        }
        Ok(ending) if ending.state == RunState::Completed => Exit::Success,
        Ok(_) => Exit::Failure,
        Err(error @ RunError::Resume(_)) => complain(Exit::Usage, &format!("failed to {error}")),
        Err(error) => complain(Exit::Failure, &format!("failed to {}", chain(&error))),
    }
}

fn worker_command(
    out_dir: &Path,
    versions: &BTreeMap<AgentKind, String>,
    debug: bool,
) -> Result<WorkerCommand, String> {
    let program = std::env::current_exe().map_err(|error| format!("failed to find its own program: {error}"))?;
    let logs = out_dir.join("logs");
    std::fs::create_dir_all(&logs).map_err(|error| format!("failed to make the folder {}: {error}", logs.display()))?;
    let base = sandbox_base(out_dir);
    let mut args: Vec<OsString> = vec!["worker".into(), "--base".into(), base.into()];
    for (kind, version) in versions {
        args.push("--agent".into());
        args.push(format!("{kind}={version}").into());
    }
    if debug {
        args.push("--debug-log".into());
        args.push(out_dir.join("mcproctor-debug.log").into());
    }
    Ok(WorkerCommand {
        program,
        args,
        log_folder: logs,
    })
}

/// The user's cache folder, because codex refuses to run its helper programs under the temporary folder.
fn sandbox_base(out_dir: &Path) -> PathBuf {
    let absolute = |name: &str| {
        std::env::var_os(name)
            .map(PathBuf::from)
            .filter(|path| path.is_absolute())
    };
    absolute("XDG_CACHE_HOME")
        .or_else(|| absolute("HOME").map(|home| home.join(".cache")))
        .map_or_else(
            || out_dir.join("sandboxes"),
            |cache| cache.join("mcproctor").join("sandboxes"),
        )
}

/// The second Ctrl-C: the workers notice that their coordinator is gone and kill their agents.
fn stop_at_once() {
    restore_terminal();
    std::process::exit(i32::from(Exit::Interrupted.code()));
}
