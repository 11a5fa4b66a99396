//! The agent's model endpoint: holds the key, streams bytes, sees status and timing.
//!
//! The agent gets a loopback address and a dummy key. The relay drops whatever credential the agent sends, adds the real
//! one and passes bytes on as they come, in both directions and in the encoding in which they come. What it learns, it
//! learns from a bounded copy. What an attempt may use of its model is held to here: requests wait for their place in the
//! worker's row and for room beside those that are open, and those of an attempt that has used up its allowance are refused.
//!
//! A request comes in at `forward`, is read on its way out by `overhear` and admitted by `admit`; its answer is read on its
//! way back by `observe` and `verdict`. What both come to is an `errand`, written down in the `ledger` and charged to the
//! `purse`.

mod admit;
mod asked;
mod connect;
mod content;
mod credential;
mod endpoint;
mod errand;
mod error;
mod failure;
mod forward;
mod gateway;
mod json_walk;
mod ledger;
mod linger;
mod meant;
mod observe;
mod offer;
mod overhear;
mod pace;
mod passed;
mod purse;
mod refuse;
mod retry_after;
mod server;
mod shut;
mod spans;
mod step;
mod tally;
mod untold;
mod usage;
mod verdict;

#[cfg(test)]
mod tests;

pub use endpoint::Dialect;
pub use error::RelayError;
pub use gateway::{
    Gateway, GatewayError, GatewayLimits, GatewayModel, GatewayOptions, GatewayTls, LetIn, NotLetIn, ask_gateway,
};
pub use meant::Meant;
pub use pace::Pace;
pub use purse::PriceOf;
pub use server::{Relay, RelayOptions};
