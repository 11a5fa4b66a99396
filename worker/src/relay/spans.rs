//! Time that counts once, however many have waited for it.

use std::time::{Duration, Instant};

/// Spans of time without overlaps, in order.
#[derive(Clone, Debug, Default)]
pub(super) struct Spans(Vec<(Instant, Instant)>);

impl Spans {
    /// Adds a span, joined with those that it meets.
    pub(super) fn add(&mut self, mut from: Instant, mut to: Instant) {
        if from >= to {
            return;
        }
        self.0.retain(|&(start, end)| {
            let apart = end < from || to < start;
            if !apart {
                from = from.min(start);
                to = to.max(end);
            }
            apart
        });
        let at = self.0.partition_point(|&(start, _)| start < from);
        self.0.insert(at, (from, to));
    }

    /// Their length together, in milliseconds.
    pub(super) fn total_ms(&self) -> u64 {
        let total: Duration = self.0.iter().map(|&(start, end)| end - start).sum();
        u64::try_from(total.as_millis()).unwrap_or(u64::MAX)
    }
}
