//! Test cases: the model and one reader per format.
//!
//! Test cases are literal: no variable is filled in, so that a prompt may speak of `${HOME}` or `{{ .Values.x }}`.

mod bitmcp_eval;
mod error;
mod expectations;
mod judged;
mod load;
mod model;
#[cfg(test)]
mod tests;

pub use error::TestCaseErrors;
pub use load::load;
pub use model::{TestCase, fingerprint};
