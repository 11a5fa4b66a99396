//! What a test case expects beside `expectedTools`: the model. Pure.
//!
//! [`Json`] compares values exactly, whatever size their numbers have. A [`Pattern`] is a value that may have matchers in it;
//! it is read from and written as the JSON that a test case holds, so that stores and reports show what its author wrote.
//! `testcase` reads [`Expectations`] from files, `validation` checks them.

mod arguments;
mod expectations;
mod expression;
mod fault;
mod json;
mod letter_case;
mod max_calls;
mod number;
mod pattern;
mod read_arguments;
mod read_pattern;
mod relation;
mod schema;
mod stand_in;
#[cfg(test)]
mod tests;
mod write_pattern;

pub use arguments::{ExpectedArguments, HowMany, ToolArguments};
pub use expectations::{Expectations, Order};
pub use expression::Expression;
pub use fault::{Fault, Step};
pub use json::{Json, JsonType, NotComparable, Unread};
pub use letter_case::folded;
pub use max_calls::MaxCalls;
pub use number::Number;
pub use pattern::{Bound, Limit, Matcher, Pattern};
pub use schema::{Schema, Violation};
#[cfg(test)]
pub(crate) use tests::random_json;
