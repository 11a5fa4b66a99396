//! The store on real files, with real processes that are killed.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::expect_used,
    reason = "a test may fail by panicking"
)]

mod attempts;
mod evidence;
mod judgements;
mod killed;
mod opening;
mod resuming;
mod sample;
mod syncs;
mod torn;
