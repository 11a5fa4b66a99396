//! The figures of a suite: many test cases, some iterations of each.
//!
//! Each answers one of two questions. *These prompts*: how reliably does the agent do exactly these test cases? More
//! iterations answer it. *Prompts like these*: what may be expected of prompts that were not tried? Only more test cases
//! answer that.

mod like_these;
mod pooled;
mod these_prompts;

pub(super) use like_these::left_open_by;
pub use like_these::{LikeThese, SMALLEST_K_TO_GENERALISE, TooFewCases, like_these};
pub use pooled::{distinct, pooled};
pub use these_prompts::{SuiteRate, these_prompts};
