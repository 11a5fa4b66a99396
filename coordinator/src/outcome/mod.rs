//! What an attempt's recording means: passed, failed or invalid. Pure.

mod failure;
mod kind;
pub mod remedies;
mod reply;
mod verdict;

pub use kind::{FailureClass, InvalidCause, Outcome};
pub use verdict::{Facts, Next, Verdict, decide};
