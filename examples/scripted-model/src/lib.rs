//! A deterministic model endpoint: it speaks three model APIs and plays scenarios from a file instead of thinking.
//!
//! In flow order: a dialect (Anthropic Messages, OpenAI Responses, Chat Completions) reads a request into a
//! conversation; the ledger says which conversation of which scenario that is; the script says what comes next; the
//! dialect writes it, whole or as a stream of events.

mod conversation;
mod delivery;
mod dialect;
mod director;
mod javascript;
mod ledger;
mod record;
mod reply;
mod scenario;
mod server;
mod template;
mod tools;

pub use dialect::Dialect;
pub use record::{RequestRecord, ToldUsage};
pub use scenario::{ScenarioError, Scenarios};
pub use server::{ScriptedModel, StartError};
