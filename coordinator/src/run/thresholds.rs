//! What the store says of a run, held against its thresholds.

use crate::record::RunRecord;
use crate::store::CellTally;
use crate::threshold::{Counts, Shortfall, Thresholds, shortfalls};

/// The thresholds that a complete run did not meet.
pub(super) fn shortfalls_of(thresholds: &Thresholds, run: &RunRecord, tallies: &[CellTally]) -> Vec<Shortfall> {
    // An iteration without a result counts with the invalid ones: nothing is known of it either.
    let nothing = Counts {
        passed: 0,
        failed: 0,
        invalid: run.iterations.into(),
    };
    let mut cells = vec![nothing; run.cells()];
    for tally in tallies {
        if let Some(cell) = cells.get_mut(tally.cell as usize) {
            let (passed, failed) = (tally.passed, tally.failed_total());
            *cell = Counts {
                passed,
                failed,
                invalid: u64::from(run.iterations).saturating_sub(passed + failed),
            };
        }
    }
    let agents: Vec<String> = run.agents.iter().map(|agent| agent.name.clone()).collect();
    let cases: Vec<String> = run.test_cases.iter().map(|case| case.name.clone()).collect();
    shortfalls(thresholds, &agents, &cases, &cells)
}
