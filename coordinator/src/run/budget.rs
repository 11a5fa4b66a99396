//! What earlier processes of a run left of its limits.

use std::ops::ControlFlow;

use mcproctor_proto::id::RunId;

use crate::config::Config;
use crate::limits::{Budget, Spent};
use crate::record::AttemptRecord;
use crate::store::{AttemptFilter, Reader, StoreError};

/// What is left of the limits, with everything that the run's attempts used so far taken off, those that came too late
/// included. What was in flight when a process was killed was never told.
pub(super) fn budget_left(config: &Config, reader: &Reader, run: &RunId) -> Result<Budget, StoreError> {
    let mut budget = Budget::new(&config.run.limits);
    if !config.run.limits.any() {
        return Ok(budget);
    }
    let used = |record: &AttemptRecord| Spent {
        tokens: Some(record.traffic.tokens().total()),
        cost_usd: record.cost_usd.or_else(|| config.prices.cost_of(&record.traffic)),
    };
    reader.for_each_attempt(run, AttemptFilter::ALL, &mut |record| {
        budget.spend(used(&record));
        ControlFlow::Continue(())
    })?;
    reader.for_each_late(run, &mut |late| {
        budget.spend(used(&late.record));
        ControlFlow::Continue(())
    })?;
    Ok(budget)
}
