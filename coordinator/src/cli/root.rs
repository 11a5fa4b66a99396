//! The command line as a whole.

use std::ffi::OsString;
use std::process::ExitCode;

use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};
use mcproctor_worker::heap::limit_heaps;
use mcproctor_worker::sandbox::{SandboxedArgs, sandboxed};

use super::exit::Exit;
use super::{check, compare, demo, gateway, grade, list, minimal_agent, proxy, report, run, worker};

/// Says how reliably AI agents use an MCP server, with evidence.
///
/// Without a command it runs an evaluation, as `mcproctor run` does.
#[derive(Debug, Parser)]
#[command(name = "mcproctor", version, about, args_conflicts_with_subcommands = true)]
pub struct Cli {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    run: run::RunArgs,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Run an evaluation: every test case, with every agent, again and again.
    Run(run::RunArgs),
    /// Run the main job with nothing installed: a demo server, a scripted model, and the report in this folder.
    Demo(demo::DemoArgs),
    /// See whether everything is ready for a run: config, test cases, server, tools, agents. Runs nothing.
    Check(check::CheckArgs),
    /// Judge the recordings of a run against the test cases as they are now. Runs no agent.
    Grade(grade::GradeArgs),
    /// List the runs in a report folder.
    List(list::ListArgs),
    /// Write the reports of a stored run anew.
    Report(report::ReportArgs),
    /// Compare two runs, or two agents of one run.
    Compare(compare::CompareArgs),
    /// Put the recording proxy in front of a server, for any agent.
    Proxy(proxy::ProxyArgs),
    /// Hold the models' keys for many workers, which show it lease tokens: one place for keys, rates and budget.
    Gateway(gateway::GatewayArgs),
    /// Run attempts for a coordinator. Started by `mcproctor run`.
    #[command(hide = true)]
    Worker(worker::WorkerArgs),
    /// The built-in agent of the demo.
    #[command(hide = true)]
    MinimalAgent(minimal_agent::MinimalAgentArgs),
    /// Confine this process and become an agent. Started by a worker.
    #[command(hide = true)]
    Sandboxed(SandboxedArgs),
}

/// Parses the command line, runs the command and says how it ended.
pub fn main(args: impl IntoIterator<Item = OsString>) -> ExitCode {
    limit_heaps();
    let parsed = Cli::command()
        .try_get_matches_from(args)
        .and_then(|matches| Cli::from_arg_matches(&matches));
    let cli = match parsed {
        Ok(cli) => cli,
        // Help and version are printed to standard output and are a success; anything else is a usage error.
        Err(error) => {
            let _ = error.print();
            return if error.use_stderr() {
                Exit::Usage.into()
            } else {
                Exit::Success.into()
            };
        }
    };
    let exit = match cli.command {
        None => run::run(cli.run),
        Some(Command::Run(args)) => run::run(args),
        Some(Command::Demo(args)) => demo::run(args),
        Some(Command::Check(args)) => check::run(&args),
        Some(Command::Grade(args)) => grade::run(&args),
        Some(Command::List(args)) => list::list(&args),
        Some(Command::Report(args)) => report::report(&args),
        Some(Command::Compare(args)) => compare::compare(&args),
        Some(Command::Proxy(args)) => proxy::run(args),
        Some(Command::Gateway(args)) => gateway::run(&args),
        Some(Command::Worker(args)) => worker::run(args),
        Some(Command::MinimalAgent(args)) => return minimal_agent::run(args),
        Some(Command::Sandboxed(args)) => return sandboxed(&args),
    };
    exit.into()
}
