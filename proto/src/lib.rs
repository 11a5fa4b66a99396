//! The contract between the coordinator and its workers.
//!
//! [`v1`] holds the generated messages and services; they stay in this crate, in the coordinator's `rpc` and in the
//! worker's `link`. Everything else speaks the checked types of the other modules, which [`wire`] converts.

pub mod agent;
pub mod allowance;
pub mod assignment;
pub mod call;
pub mod evidence;
pub mod exposure;
pub mod id;
pub mod lease_token;
pub mod price;
pub mod redact;
pub mod request;
pub mod server;
pub mod tokens;
pub mod traffic;
pub mod turn;
pub mod wire;
pub mod worker;

/// The generated messages and services of `mcproctor.v1`.
#[allow(missing_docs, unreachable_pub, clippy::all, clippy::unwrap_used)]
pub mod v1 {
    tonic::include_proto!("mcproctor.v1");
}
