//! Figures and their ranges: pure functions, each with its source.

mod quantile;
mod rate;
mod wilson;

pub use quantile::{Spread, quantile, spread};
pub use rate::{Rate, SMALLEST_N_WITH_A_RATE};
pub use wilson::{Interval, wilson};
