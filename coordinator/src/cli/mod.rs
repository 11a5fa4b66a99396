//! The commands: parse, delegate, map errors to exit codes.

mod exit;
mod list;
mod root;

pub use exit::Exit;
pub use root::{Cli, run};
