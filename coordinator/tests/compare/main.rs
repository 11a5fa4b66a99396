//! Comparisons of planted runs: what people read, what is refused, and the program itself on a store.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::expect_used,
    reason = "a test may fail by panicking"
)]

#[path = "../support/code_spans.rs"]
mod code_spans;
mod formats;
mod hostile;
mod planted;
mod program;
mod refusals;
mod stored;
mod verdicts;
