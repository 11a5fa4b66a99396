//! The endpoint as a client meets it: real sockets, every dialect whole and as a stream, faults, keys and records.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a failed step is a failed test"
)]

mod client;
mod dialects;
mod faults;
mod requests;
