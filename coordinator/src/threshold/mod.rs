//! Thresholds: what a run has to reach, so that a pipeline can be stopped by it.

mod decide;
mod model;
mod share;

pub use decide::{Counts, Shortfall, ShortfallSentence, out_of_reach, shortfalls};
pub use model::{Measure, Thresholds};
pub use share::{BadShare, Share};
