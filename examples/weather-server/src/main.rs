//! Runs the server alone.

fn main() {}
