//! Something counted on both sides.

use serde::Serialize;

/// Something counted on both sides.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CountRow {
    /// What.
    pub what: &'static str,
    /// How many, A and B.
    pub sides: [u64; 2],
}

impl CountRow {
    /// Those of `rows` that are there on a side at all.
    pub(super) fn all(rows: impl Iterator<Item = Self>) -> Vec<Self> {
        rows.filter(|row| row.sides != [0, 0]).collect()
    }
}
