//! A comparison in words, as every format for people shows it.

mod case;
mod clean;
mod page;
mod question;
mod tool;
mod words;

pub(super) use case::CaseView;
pub(super) use page::{ComparisonView, LeftOutView, Row, Table, View};
pub(super) use question::QuestionView;
pub(super) use tool::ToolView;
pub(super) use words::LEADS;
