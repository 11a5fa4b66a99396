//! Drivers: how each agent command line is started and its output read, one a file.
//!
//! A [`Driver`] decides, it does not act: it says what to run for a turn ([`Invocation`]), is shown the lines that the
//! program printed and how it ended ([`Exit`]), and says what that means ([`Reading`]). Running the program is the
//! sandbox's work.

mod choose;
mod claude;
mod codex;
mod command;
mod driver;
mod error;
mod escape;
mod json_line;
mod login;
mod mcp_config;
mod minimal;
mod program;
mod refusal;
mod template;
#[cfg(test)]
mod transcript;

pub use choose::driver;
pub use driver::{Driver, Exit, Invocation, NewFile, Place, Reading, Seen};
pub use error::AgentError;
pub use minimal::{MinimalArgs, minimal_agent};
pub use program::{Program, find, find_command, version};
