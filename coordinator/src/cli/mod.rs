//! The commands: parse, delegate, map errors to exit codes.

mod agents;
mod check;
mod compare;
mod cost;
mod demo;
mod exit;
mod gateway;
mod grade;
mod inputs;
mod inspect;
mod let_in;
mod limits;
mod list;
mod minimal_agent;
mod named;
mod proxy;
mod report;
mod resume;
mod root;
mod run;
mod runtime;
mod store_folder;
mod worker;

pub use exit::Exit;
pub use root::{Cli, main};
