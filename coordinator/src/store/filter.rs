//! Which attempts are asked for.

/// Which attempts of a run are read. The default is all of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AttemptFilter {
    /// Only those that are their iteration's result.
    pub last_only: bool,
    /// Only those of one cell.
    pub cell: Option<u32>,
    /// Only those that were stored when this was taken: a second walk then sees what the first one saw.
    pub up_to: Option<Watermark>,
}

/// A moment in a store's life; see [`super::Reader::watermark`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Watermark {
    /// The newest record.
    pub(super) record: i64,
    /// The newest judgement.
    pub(super) judgement: i64,
}

impl AttemptFilter {
    /// Every attempt.
    pub const ALL: Self = Self {
        last_only: false,
        cell: None,
        up_to: None,
    };
    /// The last attempt of each iteration: its result.
    pub const RESULTS: Self = Self {
        last_only: true,
        cell: None,
        up_to: None,
    };

    /// The same, but of one cell only.
    #[must_use]
    pub fn in_cell(self, cell: u32) -> Self {
        Self {
            cell: Some(cell),
            ..self
        }
    }

    /// The same, but only what was stored when the watermark was taken.
    #[must_use]
    pub fn up_to(self, watermark: Watermark) -> Self {
        Self {
            up_to: Some(watermark),
            ..self
        }
    }
}
