//! What became of the iterations of a test case.

use serde::Serialize;

/// Iterations that passed, out of those that are valid.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Count {
    passed: u64,
    total: u64,
}

impl Count {
    /// `passed` out of `total`; more passed than there were is taken as all of them.
    pub fn of(passed: u64, total: u64) -> Self {
        Self {
            passed: passed.min(total),
            total,
        }
    }

    /// How many passed.
    pub fn passed(self) -> u64 {
        self.passed
    }

    /// How many did not.
    pub fn failed(self) -> u64 {
        self.total - self.passed
    }

    /// Out of how many.
    pub fn total(self) -> u64 {
        self.total
    }

    /// The share that passed; `None` when nothing was tried.
    pub fn share(self) -> Option<f64> {
        (self.total > 0).then(|| self.passed as f64 / self.total as f64)
    }

    /// Whether there were any, and all of them passed.
    pub fn all_passed(self) -> bool {
        self.total > 0 && self.passed == self.total
    }
}

/// Those of `cells` in which something was tried; the others say nothing.
pub(super) fn tried(cells: &[Count]) -> Vec<Count> {
    cells.iter().copied().filter(|cell| cell.total > 0).collect()
}

/// All iterations of all cells together.
pub(super) fn sum(cells: &[Count]) -> Count {
    cells.iter().fold(Count::default(), |sum, cell| Count {
        passed: sum.passed + cell.passed,
        total: sum.total + cell.total,
    })
}
