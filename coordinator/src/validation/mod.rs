//! Expectations against what was recorded: pure, one family of checks a file.
//!
//! [`check`] says what became of every expectation of a test case, [`worth_talking_on`] whether a further message to the
//! agent may still meet one. `compare` finds where a value is not like a pattern, `shown` puts values into words, `whole`
//! brings back arguments that are too large to be in a record.

mod arguments;
mod check;
mod checked;
mod compare;
mod cost;
mod duplicates;
mod duration;
#[cfg(test)]
mod fixtures;
mod forbidden;
mod max_calls;
mod no_tools;
mod observed;
mod order;
mod prompts;
mod repeated;
mod requests;
mod resources;
mod response;
mod shown;
mod tokens;
mod tools;
mod whole;

pub use check::{check, worth_talking_on};
pub use observed::Observed;
pub use whole::{compares_arguments, with_whole_arguments};
