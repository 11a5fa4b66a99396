//! Two sides against each other: two runs, or two agents of one run.
//!
//! [`Results`] gathers a run in one pass; [`choose()`] says which agents of which runs are compared; [`compare()`] makes a
//! [`Comparison`] of each two sides, in the words of `docs/statistics.md`; [`text()`], [`markdown()`], [`html()`] and
//! [`json()`] show it.

mod case;
mod changes;
mod choose;
mod comparison;
mod count_row;
mod error;
mod figure;
mod html;
mod json;
mod markdown;
mod pairing;
mod question;
mod results;
mod side;
mod spread;
mod text;
mod tools;
mod validity;
mod value;
mod view;

pub use case::CaseRow;
pub use changes::Change;
pub use choose::{Sides, choose};
pub use comparison::{Comparison, compare};
pub use count_row::CountRow;
pub use error::CompareError;
pub use html::html;
pub use json::json;
pub use markdown::markdown;
pub use pairing::LeftOut;
pub use question::{LikeThesePrompts, SuiteFigures, ThesePrompts};
pub use results::Results;
pub use side::{Side, SideFacts};
pub use spread::SpreadRow;
pub use text::text;
pub use tools::{Piece, PieceKind, ToolChange, ToolChangeKind, ToolLists};
pub use validity::Invalid;
pub use value::FieldChange;
