//! The judge's endpoint: OpenAI's Chat Completions, as every model server speaks them.
//!
//! `endpoint` asks and tries again within bounds; `request`, `reply` and `refusal` are its pure parts, `connection` the way
//! there.

mod connection;
mod endpoint;
mod error;
mod refusal;
mod reply;
mod request;

pub(super) use endpoint::Endpoint;
pub(super) use error::AskError;
