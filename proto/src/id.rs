//! Names of things that pass between the coordinator and its workers.

use std::fmt;

use serde::{Deserialize, Serialize};

macro_rules! name_type {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(String);

        impl $name {
            /// Takes the name as it is.
            pub fn new(name: impl Into<String>) -> Self {
                Self(name.into())
            }

            /// The name as text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }
    };
}

name_type! {
    /// One run, for example `2026-11-30T06-54-57-3fa9`: its start in UTC and four random digits.
    RunId
}
name_type! {
    /// One iteration inside a run: `<cell index>-<iteration number>`, for example `3-17`; the number starts at 1.
    IterationId
}
name_type! {
    /// One attempt inside a run: `<iteration>-<attempt number>`, for example `3-17-1`; the number starts at 1.
    AttemptId
}

/// The right to run one attempt: only the result that carries the current epoch counts.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Lease {
    /// The attempt that may be run.
    pub attempt: AttemptId,
    /// Grows each time the attempt is given out.
    pub epoch: u64,
}
