//! Expectations against what was recorded.
