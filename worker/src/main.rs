//! The slim worker binary of a fleet.

fn main() {}
