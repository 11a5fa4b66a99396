//! Which attempts are asked for.

/// Which attempts of a run are read. The default is all of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AttemptFilter {
    /// Only those that are their iteration's result.
    pub last_only: bool,
    /// Only those of one cell.
    pub cell: Option<u32>,
}

impl AttemptFilter {
    /// Every attempt.
    pub const ALL: Self = Self {
        last_only: false,
        cell: None,
    };
    /// The last attempt of each iteration: its result.
    pub const RESULTS: Self = Self {
        last_only: true,
        cell: None,
    };

    /// The same, but of one cell only.
    #[must_use]
    pub fn in_cell(self, cell: u32) -> Self {
        Self {
            cell: Some(cell),
            ..self
        }
    }
}
