//! Conversions between the generated messages and the checked types.
//!
//! Into a message nothing can go wrong. Out of one, everything that a stranger may have written is checked, and
//! [`Malformed`] says which field is not what it has to be.

mod allowance;
mod assignment;
mod enums;
mod malformed;
mod records;
mod stream;
mod worker;

pub use malformed::Malformed;
