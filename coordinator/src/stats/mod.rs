//! Figures and their ranges: pure functions.
