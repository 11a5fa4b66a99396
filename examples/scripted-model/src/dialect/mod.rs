//! The model APIs: each reads a request into a conversation and writes a reply.

mod anthropic;
mod api;
mod chat;
mod content;
mod error_body;
mod responses;
mod sse;

pub use api::Dialect;
pub(crate) use api::models;
