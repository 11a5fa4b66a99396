//! The model APIs: each reads a request into a conversation and writes a reply.

mod anthropic;
mod chat;
mod content;
mod dialect;
mod error_body;
mod responses;
mod sse;

pub use dialect::Dialect;
pub(crate) use dialect::models;
