//! Figures and their ranges: pure functions, each with its source.

mod wilson;

pub use wilson::{Interval, wilson};
