//! What the end-to-end tests share: a place with servers, a model and a config, the real program run in it, and its results.
//!
//! `bed` sets the place up, `real` finds real agents, `program` runs `mcproctor`, `results` reads what it wrote, `server` is an MCP server with faults
//! on demand, `processes` looks at what runs.
#![allow(
    dead_code,
    unreachable_pub,
    unused_imports,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stderr,
    reason = "each test program uses a part of it, and a test may fail by panicking"
)]

mod bed;
mod judge;
mod processes;
mod program;
mod real;
mod results;
mod server;

pub use bed::{Bed, MODEL_KEY, unused_address};
pub use judge::{FakeJudge, Question, Verdict};
pub use processes::{Process, descendants, end, marked, wait_until_gone};
pub use program::{Ran, Running};
pub use results::Results;
pub use server::{Answer, Asked, FakeServer, well_at_first};
