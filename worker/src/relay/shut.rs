//! Why nothing more may be asked, in words.

use std::fmt;

/// Why nothing more may be asked.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Shut {
    /// So many tokens were used of so many; so many of them are an estimate.
    Tokens { used: u64, most: u64, untold: u64 },
    /// So many US dollars were spent of so many; so many of them are an estimate.
    Cost { spent: f64, most: f64, untold: f64 },
}

impl fmt::Display for Shut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const UNTOLD: &str = "the most that answers may have used which did not tell";
        match self {
            Self::Tokens { used, most, untold } => {
                write!(f, "limits.maxTokens is reached: {used} of {most} tokens are used")?;
                if *untold > 0 {
                    write!(f, ", {untold} of them {UNTOLD}")?;
                }
            }
            Self::Cost { spent, most, untold } => {
                write!(f, "limits.maxCostUsd is reached: ${spent:.2} of ${most:.2} are spent")?;
                if *untold > 0.0 {
                    write!(f, ", ${untold:.2} of them {UNTOLD}")?;
                }
            }
        }
        f.write_str("; raise it in the gateway's config")
    }
}
