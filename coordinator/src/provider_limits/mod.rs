//! What model providers and agent command lines refuse or change in a tool's definition.
//!
//! One refused definition makes a provider refuse the whole request, so that an agent with such a server answers nothing
//! at all. Every rule here names its source: documentation, or an issue that shows the provider's own words.

mod finding;
mod list;
mod name;
mod schema;

pub use finding::{Consumer, Finding, Severity, ToolShape};
pub use list::findings;
