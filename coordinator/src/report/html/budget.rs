//! How much of a run the page carries with it.

/// Bytes of packed conversations in a page: what a browser still opens at once. A page of 100,000 short conversations
/// needs about half of it.
const MOST_BYTES: u64 = 96 << 20;

/// Shares the bytes of a page between cells, so that the last one is seen as well as the first. What a cell does not use
/// goes to those that follow. Conversations that passed may take half of a cell's share; the rest is kept for those that did
/// not.
#[derive(Debug)]
pub(super) struct Budget {
    share: u64,
    /// Used by the cells before this one, and by this one.
    before: u64,
    here: u64,
    here_passed: u64,
    cell: usize,
}

impl Budget {
    pub(super) fn of(cells: usize) -> Self {
        Self::with(MOST_BYTES, cells)
    }

    fn with(bytes: u64, cells: usize) -> Self {
        Self {
            share: bytes / cells.max(1) as u64,
            before: 0,
            here: 0,
            here_passed: 0,
            cell: 0,
        }
    }

    /// Whether `bytes` more of `cell` fit in; if so they are counted. Cells come in order.
    pub(super) fn allows(&mut self, cell: usize, bytes: u64, passed: bool) -> bool {
        if cell != self.cell {
            self.before += self.here;
            (self.here, self.here_passed, self.cell) = (0, 0, cell);
        }
        let ours = (self.share * (cell as u64 + 1)).saturating_sub(self.before);
        let fits = self.here + bytes <= ours && !(passed && self.here_passed + bytes > ours / 2);
        if fits {
            self.here += bytes;
            self.here_passed += if passed { bytes } else { 0 };
        }
        fits
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_keeps_half_of_its_share_for_what_did_not_pass() {
        let mut budget = Budget::with(100, 1);
        assert!(budget.allows(0, 50, true));
        assert!(!budget.allows(0, 1, true));
        assert!(budget.allows(0, 50, false));
        assert!(!budget.allows(0, 1, false));
    }

    #[test]
    fn what_a_cell_leaves_goes_to_the_next_and_never_back() {
        let mut budget = Budget::with(300, 3);
        assert!(budget.allows(0, 20, false));
        assert!(!budget.allows(1, 181, false));
        assert!(budget.allows(1, 180, false));
        assert!(budget.allows(2, 100, false));
        assert!(!budget.allows(2, 1, false));
    }
}
