//! `report.html`: one self-contained page.
//!
//! The head of the page, with all figures, is rendered here and readable without a script. Iterations follow as compressed
//! pieces ([`pieces`]) that the page's own script unpacks when a reader opens them. Text from tools, prompts and agents
//! reaches the page only escaped by the template engine, or inside compressed JSON that the script inserts as text; the
//! content security policy allows that one script and that one style by their hashes.

mod agents;
mod budget;
mod classes;
mod confusion;
mod detail;
mod draft;
mod embed;
mod example;
mod facts;
mod forest;
mod grid;
mod headline;
mod judge;
mod page;
mod pieces;
mod row;
mod tools;
mod trouble;

pub(super) use draft::{Draft, Part, render};
