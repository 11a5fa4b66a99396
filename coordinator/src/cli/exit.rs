//! The documented exit codes.

use std::process::ExitCode;

/// How a command ended. Where several apply, the one declared first wins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Exit {
    /// Interrupted by the user.
    Interrupted,
    /// Usage, config or test-case error, or `check` found a mismatch.
    Usage,
    /// The machinery, the server or the model failed, a login is needed, or iterations stayed invalid.
    Failure,
    /// A limit was reached.
    Limit,
    /// A threshold was not met.
    Threshold,
    /// Completed.
    Success,
}

impl Exit {
    /// The number that the process exits with.
    pub fn code(self) -> u8 {
        match self {
            Self::Interrupted => 130,
            Self::Usage => 2,
            Self::Failure => 3,
            Self::Limit => 4,
            Self::Threshold => 1,
            Self::Success => 0,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.code())
    }
}
