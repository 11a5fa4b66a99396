//! Two sides against each other: two cells, two agents, two runs.
//!
//! Iterations are never paired by their number, because nothing joins the third iteration of one side with the third of the
//! other; only test cases are paired.

mod detectable;
mod fisher;
mod holm;
mod hypergeometric;
mod leads;
mod mantel_haenszel;
mod newcombe;
mod pair;
mod per_case;
mod sign_flip;
mod stratified;
mod verdict;

pub use detectable::{Detectable, detectable};
pub use fisher::{ExactTest, fisher};
pub use holm::holm;
pub use leads::{LEAD_SHARE, leads};
pub use mantel_haenszel::mantel_haenszel;
pub use newcombe::newcombe;
pub use pair::{DifferenceRange, Pair};
pub use per_case::{PerCase, mean_difference, per_case};
pub use sign_flip::{SignFlip, sign_flip};
pub use stratified::stratified_exact;
pub use verdict::{DEFAULT_MARGIN, Verdict, verdict};
