//! `results.json`: the whole run for programs; its schema is documented in `docs/results.md`.

mod header;
mod iteration;
mod judge;
mod write;

pub use write::SCHEMA_VERSION;
pub(super) use write::write;
