//! The `mcproctor` command.

use std::process::ExitCode;

use clap::Parser;
use mcproctor::cli::{Cli, run};

fn main() -> ExitCode {
    run(Cli::parse())
}
