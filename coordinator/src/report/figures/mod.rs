//! Every figure of a run, a concept a file: pure, collected in one pass, bounded in memory.
//!
//! What is kept per iteration is a mark and a few numbers (about 40 bytes), what is kept per call is its duration and its
//! size: the conversations themselves are never held. Everything that a server or an agent can make new names of is capped,
//! and says how much was left out.

mod argument_errors;
mod capped;
mod collect;
mod confusion;
mod error_texts;
mod example;
mod group;
mod repeats;
mod server_faults;
mod tools;
mod unneeded;

pub use argument_errors::{ArgumentError, ArgumentErrors, FieldKey};
pub use capped::Capped;
pub use collect::Figures;
pub use confusion::{Confusion, Instead};
pub use error_texts::{ErrorTextFigures, ErrorTexts};
pub use example::Example;
pub use group::{Cell, Group};
pub use server_faults::{FaultFigures, ServerFaults};
pub use tools::{Funnel, Share, ToolFigures};
pub use unneeded::{UnneededCalls, UnneededFigures};
