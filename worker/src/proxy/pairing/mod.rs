//! Pairs calls with their results: messages in, changes of records out. No clock, no I/O.
//!
//! The key is the HTTP exchange first and the JSON-RPC id second, because clients use one id several times at once on
//! one session. `machine` follows the messages, `calls` the life of a call, `answer` reads what an answer says about it, `exchange` knows what
//! the end of an HTTP exchange means, `change` is what comes out.

mod answer;
mod calls;
mod change;
mod exchange;
mod machine;
#[cfg(test)]
mod tests;

pub(super) use change::{Answered, Change};
pub(super) use exchange::{Opening, ReplyKind, Sent};
pub(super) use machine::{Pairing, revision_of};
