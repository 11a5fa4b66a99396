//! The worker's side of the Work stream and of the evidence upload.

mod address;
mod connect;
mod error;
mod evidence;
mod task;

pub use address::Address;
pub use error::LinkError;
pub(crate) use evidence::{Piece, piece};
pub use task::{Settings, work};
