//! What one worker thread takes at a time.

use crate::report::iteration::{PendingIteration, for_each_pending_iteration};
use crate::report::{Iteration, ReportError, RunData};

/// Iterations at most.
const MOST_ITERATIONS: usize = 50;

/// Stored bytes after which a chunk is closed; they grow to about five times as many when they are read.
const ENOUGH_BYTES: usize = 64 * 1024;

/// Iterations of one cell, one after another.
#[derive(Debug)]
pub(in crate::report) struct Chunk {
    /// From 0, in the order of the run.
    pub(in crate::report) index: u32,
    iterations: Vec<PendingIteration>,
}

impl Chunk {
    /// Reads its records.
    pub(in crate::report) fn read(self) -> Result<Vec<Iteration>, ReportError> {
        self.iterations.into_iter().map(PendingIteration::read).collect()
    }
}

/// Visits a run chunk by chunk.
pub(super) fn for_each_chunk(
    data: &dyn RunData,
    visit: &mut dyn FnMut(Chunk) -> Result<(), ReportError>,
) -> Result<(), ReportError> {
    let mut open: Vec<PendingIteration> = Vec::new();
    let (mut bytes, mut index) = (0, 0);
    for_each_pending_iteration(data, &mut |iteration| {
        let full = open.len() >= MOST_ITERATIONS || bytes >= ENOUGH_BYTES;
        if full || open.last().is_some_and(|last| last.cell != iteration.cell) {
            bytes = 0;
            let iterations = std::mem::take(&mut open);
            visit(Chunk { index, iterations })?;
            index += 1;
        }
        bytes += iteration.stored_bytes();
        open.push(iteration);
        Ok(())
    })?;
    if open.is_empty() {
        return Ok(());
    }
    visit(Chunk {
        index,
        iterations: open,
    })
}
