//! The recording proxy over real sockets.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    missing_docs,
    unreachable_pub
)]

mod bytes;
mod login;
mod records;
mod streams;
mod tls;
mod wire;
