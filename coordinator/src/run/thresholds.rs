//! What the store says of a run, held against its thresholds.

use crate::record::RunRecord;
use crate::store::CellTally;
use crate::threshold::{Counts, Shortfall};

/// The thresholds that a complete run did not meet.
pub(super) fn shortfalls_of(run: &RunRecord, tallies: &[CellTally]) -> Vec<Shortfall> {
    let mut cells = vec![Counts::of(run.iterations, 0, 0); run.cells()];
    for tally in tallies {
        if let Some(cell) = cells.get_mut(tally.cell as usize) {
            *cell = Counts::of(run.iterations, tally.passed, tally.failed_total());
        }
    }
    run.shortfalls(&cells)
}
