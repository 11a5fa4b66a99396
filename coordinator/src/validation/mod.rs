//! Expectations against what was recorded: pure, one family of checks a file.

mod tools;

pub use tools::{expected_tools, unlisted_tools};
