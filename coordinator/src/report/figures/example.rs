//! Where to look for a case of what a figure counts.

use serde::Serialize;

/// A real iteration, and a call in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Example {
    /// Index of the cell.
    pub cell: usize,
    /// Number of the iteration in its cell, from 1.
    pub iteration: u32,
    /// The place of the call among those of the iteration, from 0; `None` where it is about no call.
    pub call: Option<usize>,
}

impl Example {
    /// The iteration alone.
    pub fn of(cell: usize, iteration: u32) -> Self {
        Self {
            cell,
            iteration,
            call: None,
        }
    }

    /// The same, pointing at a call.
    #[must_use]
    pub fn at_call(self, call: usize) -> Self {
        Self {
            call: Some(call),
            ..self
        }
    }
}
