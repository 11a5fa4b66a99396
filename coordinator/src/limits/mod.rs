//! What a run may use, and what of it is spent, set aside and left.
//!
//! Every attempt has something set aside before it begins, and its relay lets it use no more than that; so the whole run
//! stays within its limits, whatever one attempt does.

mod budget;
mod pot;
mod settings;

pub use budget::{Budget, Reserved, Short, Spent};
pub use settings::{Limit, Limits};
