//! Keeps secrets out of everything that is recorded or sent on. Both sides do, each with the secrets that it knows.
//!
//! A [`Redactor`] knows the secret values of an attempt, of one server or of a whole config. Texts and JSON are redacted before
//! they leave the room that recorded them, and what the agent printed before it is named by its hash.

mod blinded;
mod escaped;
mod file;
mod forms;
mod length;
mod named;
mod redactor;

pub use blinded::Blinded;
pub use length::SHORTEST_SECRET;
pub use named::Named;
pub use redactor::Redactor;
