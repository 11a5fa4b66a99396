//! OpenAI Responses, with what codex adds to it: tools in namespaces, tools among the input, and a JavaScript tool.

mod read;
mod write;

pub(super) use read::read;
pub(super) use write::{error_events, stream, write};
