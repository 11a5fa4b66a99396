//! The tree is what the documents say it is, and the rooms keep to their rules.
#![allow(clippy::unwrap_used, clippy::panic)]

mod dependencies;
mod links;
mod map;
mod rules;
mod tree;
