//! What has to be near the agent: sandbox, recording proxy, model relay, bridge and agent drivers.
//!
//! `link` receives assignments and sends what was recorded; `iteration` runs one attempt and composes the other rooms,
//! which do not know each other. `command` is what the two binaries call.

pub mod agent;
pub mod bridge;
pub mod command;
pub mod endpoint;
pub mod heap;
pub mod iteration;
pub mod link;
pub mod probe;
pub mod proxy;
pub mod relay;
pub mod sandbox;

mod descriptors;
mod hop_by_hop;
mod loopback;
mod question;
mod refused;
mod search_path;
mod sse;
