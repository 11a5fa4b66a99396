//! The command line as a whole.

use std::process::ExitCode;

use clap::{Parser, Subcommand};

use super::exit::Exit;
use super::list::{ListArgs, list};

/// Says how reliably AI agents use an MCP server, with evidence.
#[derive(Debug, Parser)]
#[command(name = "mcproctor", version, about)]
pub struct Cli {
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Debug, Subcommand)]
enum Command {
    List(ListArgs),
}

/// Runs the command and says how it ended.
pub fn run(cli: Cli) -> ExitCode {
    let exit = match cli.command {
        None => Exit::Success,
        Some(Command::List(args)) => list(&args),
    };
    exit.into()
}
