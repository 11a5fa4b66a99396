//! Markdown as forges show it: text from outside in it, tables, and a document that stays under their limit.

mod code;
mod document;
mod table;

pub(crate) use code::code;
pub(crate) use document::{Document, Section};
pub(crate) use table::{head, row};
