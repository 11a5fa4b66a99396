//! The `mcproctor` command.

use std::process::ExitCode;

fn main() -> ExitCode {
    mcproctor::cli::main(std::env::args_os())
}
