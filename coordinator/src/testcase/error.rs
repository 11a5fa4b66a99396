//! Everything that is wrong with the test cases of a source.

use std::fmt;

use crate::yaml::{Problem, write_report};

/// All problems of all files at once. `Display` is the report that a user reads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TestCaseErrors {
    problems: Vec<Problem>,
}

impl TestCaseErrors {
    pub(super) fn new(problems: Vec<Problem>) -> Self {
        Self { problems }
    }

    /// The problems.
    pub fn problems(&self) -> &[Problem] {
        &self.problems
    }
}

impl fmt::Display for TestCaseErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_report(f, &self.problems)
    }
}

impl std::error::Error for TestCaseErrors {}
