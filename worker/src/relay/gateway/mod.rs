//! The relay as a service: one place that holds keys, egress, rates and budget for many workers.
//!
//! A worker shows a lease token where a key would stand. The gateway checks it, drops it, adds the real key and passes bytes
//! on as a relay does; what is used it counts by attempt and in all.

mod answer;
mod ask;
mod error;
mod leases;
mod listen;
mod options;
mod server;
mod status;

pub use ask::{LetIn, NotLetIn, ask_gateway};
pub use error::GatewayError;
pub use options::{GatewayLimits, GatewayModel, GatewayOptions, GatewayTls};
pub use server::Gateway;
