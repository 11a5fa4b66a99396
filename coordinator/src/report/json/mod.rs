//! `results.json`: the whole run for programs; its schema is documented in `docs/results.md`.

mod draft;
mod findings;
mod header;
mod iteration;
mod judge;
mod readable;

pub use draft::SCHEMA_VERSION;
pub(super) use draft::{Draft, render};
