//! Everything that is wrong with a config.

use std::fmt;

use crate::yaml::{Problem, write_report};

/// All problems of a config at once, in the order of the file. `Display` is the report that a user reads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigErrors {
    problems: Vec<Problem>,
}

impl ConfigErrors {
    pub(super) fn new(problems: Vec<Problem>) -> Self {
        Self { problems }
    }

    /// The problems.
    pub fn problems(&self) -> &[Problem] {
        &self.problems
    }
}

impl fmt::Display for ConfigErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_report(f, &self.problems)
    }
}

impl std::error::Error for ConfigErrors {}
