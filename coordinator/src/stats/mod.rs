//! Figures and their ranges: pure functions, each with its source.
//!
//! `docs/statistics.md` says which figure answers which question. Every range is a 95% range.

pub mod compare;
mod count;
mod invalid;
mod pass_hat_k;
mod quantile;
mod random;
mod rate;
mod repeats;
pub mod sequence;
mod student;
pub mod suite;
mod wilson;

#[cfg(test)]
mod properties;
#[cfg(test)]
mod reference;

pub use count::Count;
pub use invalid::{InvalidHindrance, LARGEST_INVALID_SHARE, bounds_with_invalid, invalid_hindrance};
pub use pass_hat_k::{NotEstimable, PassHatK, pass_hat_k};
pub use quantile::{Spread, quantile, spread};
pub use rate::{Rate, SMALLEST_N_WITH_A_RATE};
pub use repeats::{RepeatsAlike, repeats_alike};
pub use wilson::{Interval, wilson};
