//! Stored recordings, judged against test cases as they are now.
//!
//! [`pair`] finds the test cases that can be judged, [`grade_attempt`] judges one attempt, and [`Changes`] collects what came
//! out differently. A conversation is comparable only as far as it would have gone the same way (`replay`): answers are
//! sent while expectations are unmet, so other expectations may have made another conversation of it.

mod attempt;
mod changes;
mod judged;
mod pair;
mod replay;
#[cfg(test)]
mod tests;

pub use attempt::{Graded, Recorded, grade_attempt};
pub use changes::{Change, Changes};
pub use pair::{Pairing, pair};
