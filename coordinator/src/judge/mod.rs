//! A second opinion: a model reads each iteration and says whether the user got what was asked for.
//!
//! Tool calls are counted exactly, and literally: an answer can be right although a call is missing, and wrong although
//! every call is there. The judge's verdict stands beside the measured result and never replaces it. Only where a test case
//! says so does anything depend on it: the choice among prepared replies, and a tone that gates.
//!
//! `prompt` is what it is asked and `verdict` reads what it answers, both pure; `client` is its endpoint; `asker` joins
//! them; `task` works beside a run.

mod asker;
mod client;
mod judgement;
mod prompt;
mod queue;
mod tally;
mod task;
mod verdict;

pub use asker::{Judge, JudgeError};
pub use judgement::{Agreement, JudgeVerdict, Judgement, NotChosen, Opinion, ReplyChoice};
pub use tally::JudgeTally;
pub use task::Judging;
