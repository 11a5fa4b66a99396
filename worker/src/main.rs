//! The slim worker binary: `mcproctor-worker --connect ADDRESS …`, and the built-in agent that it can start.

use std::process::ExitCode;

use clap::{Parser, Subcommand};
use mcproctor_worker::agent::{MinimalArgs, minimal_agent};
use mcproctor_worker::command::{WorkerArgs, worker};
use mcproctor_worker::heap::limit_heaps;
use mcproctor_worker::sandbox::{SandboxedArgs, sandboxed};
use tokio::runtime::Builder;

/// The machinery failed; the same number as the `mcproctor` command's.
const FAILURE: u8 = 3;

/// Runs attempts for an mcproctor coordinator.
#[derive(Debug, Parser)]
#[command(
    name = "mcproctor-worker",
    version,
    args_conflicts_with_subcommands = true,
    subcommand_negates_reqs = true,
    arg_required_else_help = true
)]
struct Cli {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    worker: Option<WorkerArgs>,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Hold one turn with the built-in agent: prompt on standard input, answer on standard output.
    MinimalAgent(MinimalArgs),
    /// Confine this process and become an agent. Started by a worker.
    #[command(hide = true)]
    Sandboxed(SandboxedArgs),
}

fn main() -> ExitCode {
    limit_heaps();
    let cli = Cli::parse();
    match (cli.command, cli.worker) {
        // One conversation at a time: a single thread starts faster and needs less.
        (Some(Command::MinimalAgent(args)), _) => match Builder::new_current_thread().enable_all().build() {
            Ok(runtime) => ExitCode::from(u8::try_from(runtime.block_on(minimal_agent(args))).unwrap_or(1)),
            Err(error) => fail(&error),
        },
        (Some(Command::Sandboxed(args)), _) => sandboxed(&args),
        (None, Some(args)) => match Builder::new_multi_thread().enable_all().build() {
            Ok(runtime) => {
                let ended = runtime.block_on(worker(args));
                // The thread that reads standard input may wait for ever.
                runtime.shutdown_background();
                ended.map_or_else(|error| fail(&error), |()| ExitCode::SUCCESS)
            }
            Err(error) => fail(&error),
        },
        // Without any argument the help was printed.
        (None, None) => ExitCode::from(2),
    }
}

#[expect(clippy::print_stderr, reason = "this is where the command says what is wrong")]
fn fail(error: &(dyn std::error::Error + 'static)) -> ExitCode {
    let causes: Vec<String> = anyhow::Chain::new(error).map(ToString::to_string).collect();
    eprintln!("mcproctor-worker: failed to {}", causes.join(": "));
    ExitCode::from(FAILURE)
}
