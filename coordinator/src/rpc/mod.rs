//! The gRPC services. Generated types stay in here.

mod auth;
mod evidence;
mod listen;
mod workers;

pub use auth::Tokens;
pub use listen::{RpcError, RpcServer};
