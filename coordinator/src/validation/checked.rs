//! What became of one expectation, and whether it is the last word.

use crate::record::{ExpectationResult, Family};

/// A result, and what a further message to the agent may change about it.
#[derive(Clone, Debug)]
pub(super) struct Checked {
    pub(super) result: ExpectationResult,
    /// Only means something when it is not met.
    pub(super) hope: Hope,
}

/// Whether an expectation that is not met may be met once more is said and done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Hope {
    /// It may.
    Later,
    /// It cannot: what was done cannot be undone.
    Never,
    /// It does not depend on what is said.
    Neither,
}

impl Checked {
    /// One that is met.
    pub(super) fn met(family: Family, what: impl Into<String>) -> Self {
        Self {
            result: ExpectationResult {
                family,
                what: what.into(),
                met: true,
                ..ExpectationResult::default()
            },
            hope: Hope::Neither,
        }
    }

    /// One that is not met.
    pub(super) fn unmet(family: Family, what: impl Into<String>, why: impl Into<String>, hope: Hope) -> Self {
        Self {
            result: ExpectationResult {
                family,
                what: what.into(),
                why: why.into(),
                ..ExpectationResult::default()
            },
            hope,
        }
    }

    /// Met, or else not met for the reason that `why` gives.
    pub(super) fn of(family: Family, what: impl Into<String>, why: Option<String>, hope: Hope) -> Self {
        match why {
            None => Self::met(family, what),
            Some(why) => Self::unmet(family, what, why, hope),
        }
    }

    /// One about which nothing can be said.
    pub(super) fn unchecked(family: Family, what: impl Into<String>, why: impl Into<String>) -> Self {
        let mut checked = Self::unmet(family, what, why, Hope::Neither);
        checked.result.unchecked = true;
        checked
    }

    /// The tool that it is about.
    pub(super) fn about(mut self, tool: &str) -> Self {
        self.result.tool = Some(tool.to_owned());
        self
    }

    /// The call that shows it.
    pub(super) fn shown_by(mut self, call: &str) -> Self {
        self.result.call = Some(call.to_owned());
        self
    }
}
