//! `report.html`: one self-contained page.
//!
//! The head of the page, with all figures, is rendered here and readable without a script. Iterations follow as compressed
//! pieces ([`pieces`]) that the page's own script unpacks when a reader opens them. Text from tools, prompts and agents
//! reaches the page only escaped by the template engine, or inside compressed JSON that the script inserts as text; the
//! content security policy allows that one script and that one style by their hashes.

mod agents;
mod detail;
mod embed;
mod facts;
mod figure;
mod grid;
mod headline;
mod judge;
mod page;
mod pieces;
mod rate;
mod row;
mod tools;
mod write;

pub(super) use write::write;
