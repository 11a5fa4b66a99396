//! Keeps secrets out of everything that is recorded.
//!
//! A `Redactor` knows the secret values of an attempt or of one server. Texts and JSON are redacted before they leave the
//! room that recorded them, and what the agent printed before it is named by its hash.

mod escaped;
mod file;
mod forms;
mod redactor;
mod secrets;

pub(crate) use redactor::{Named, Redactor};
