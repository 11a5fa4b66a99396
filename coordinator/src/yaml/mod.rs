//! YAML with the place of every node, so that whatever is wrong with a file can be shown where it is written.
//!
//! `parse` makes a tree, `Fields` reads it key by key, `Problems` collects everything that is wrong on the way.

mod fields;
mod item;
mod key_path;
mod nearest;
mod node;
mod parse;
mod problem;
mod scalar;
#[cfg(test)]
mod tests;

pub(crate) use fields::Fields;
pub(crate) use item::{Item, Number, Text};
pub(crate) use key_path::KeyPath;
pub(crate) use nearest::nearest;
pub(crate) use node::{Node, Value};
pub(crate) use parse::{MAX_BYTES, parse};
pub use problem::{Place, Problem};
pub(crate) use problem::{Problems, write_report};
