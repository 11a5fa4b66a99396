//! What conversations cost before: the one thing known of what those to come may cost.

use std::ops::ControlFlow;
use std::path::Path;

use mcproctor_proto::id::RunId;

use crate::config::Config;
use crate::record::{AttemptRecord, RunRecord};
use crate::store::{AttemptFilter, Reader};

/// A run with more iterations is not read for this: it would take longer than the figure is worth.
const MOST_ITERATIONS: u64 = 5_000;

/// What conversations cost on average.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct UsualCost {
    /// US dollars for an iteration, all its attempts together.
    pub(super) usd: f64,
    /// The run that is known from.
    pub(super) run: RunId,
}

/// What the conversations of a run cost; `None` when it is not known of every one.
pub(super) fn cost_of(reader: &Reader, run: &RunRecord) -> Option<UsualCost> {
    if run.total_iterations() > MOST_ITERATIONS {
        return None;
    }
    let mut costs = Some(Vec::new());
    let mut add = |attempt: &AttemptRecord| {
        costs = costs.take().zip(attempt.usage().cost_usd).map(|(mut costs, cost)| {
            costs.push(((attempt.cell, attempt.iteration), cost));
            costs
        });
        match costs {
            Some(_) => ControlFlow::Continue(()),
            None => ControlFlow::Break(()),
        }
    };
    reader
        .for_each_attempt(&run.id, AttemptFilter::ALL, &mut |attempt| add(&attempt))
        .ok()?;
    Some(UsualCost {
        usd: per_iteration(&costs?)?,
        run: run.id.clone(),
    })
}

/// The same of the newest run of the same agents with the same models, whatever its test cases.
pub(super) fn cost_of_the_newest(out_dir: &Path, config: &Config) -> Option<UsualCost> {
    let reader = Reader::open(out_dir).ok()?;
    let (run, _) = reader.run(&reader.latest_held_run().ok()??).ok()??;
    let mut before: Vec<_> = run.agents.iter().map(|agent| (&agent.name, &agent.model)).collect();
    let mut now: Vec<_> = config
        .run
        .agents
        .iter()
        .map(|agent| (&agent.name, &agent.model))
        .collect();
    before.sort();
    now.sort();
    (before == now).then(|| cost_of(&reader, &run)).flatten()
}

/// The mean over iterations of the sums of their attempts, which come in order.
fn per_iteration(costs: &[((u32, u32), f64)]) -> Option<f64> {
    let iterations = costs.chunk_by(|(one, _), (other, _)| one == other).count();
    let sum: f64 = costs.iter().map(|(_, cost)| cost).sum();
    #[expect(clippy::cast_precision_loss, reason = "a number of iterations")]
    let mean = sum / iterations as f64;
    (sum > 0.0).then_some(mean)
}

#[cfg(test)]
mod tests {
    use super::per_iteration;

    #[test]
    fn attempts_of_one_iteration_add_up() {
        let costs = [((0, 1), 1.0), ((0, 1), 2.0), ((0, 2), 4.0), ((1, 1), 2.0)];
        assert_eq!(per_iteration(&costs), Some(3.0));
        assert_eq!(per_iteration(&[]), None);
        assert_eq!(per_iteration(&[((0, 1), 0.0)]), None, "what costs nothing is no news");
    }
}
