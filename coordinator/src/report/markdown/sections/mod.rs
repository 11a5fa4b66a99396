//! The parts of the summary; each is absent where it has nothing to say.

mod failures;
mod rates;
mod table;
mod tools;
mod trouble;

pub(super) use failures::{arguments, classes, confusion};
pub(super) use rates::{cells, rates};
pub(super) use table::example;
pub(super) use tools::tools;
pub(super) use trouble::{errors, faults, unneeded};
