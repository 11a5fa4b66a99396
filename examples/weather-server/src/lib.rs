//! Filled in with the first step.
