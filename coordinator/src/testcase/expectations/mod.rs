//! The keys of a test case that say what is expected beside `expectedTools`.
//!
//! `read` goes key by key, `value` makes JSON of YAML, `located` finds the place of what is wrong inside of a value, and
//! `conflicts` finds expectations that nothing can meet together.

mod conflicts;
mod located;
mod read;
mod value;

pub(super) use conflicts::report_conflicts;
pub(super) use read::read;
