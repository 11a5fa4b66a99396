//! What a resumed run repeats without being told again.

use std::ops::ControlFlow;
use std::path::Path;

use mcproctor_proto::id::RunId;

use crate::config::Config;
use crate::record::{AttemptRecord, RunRecord};
use crate::store::{AttemptFilter, Reader};
use crate::testcase::TestCase;

/// A run that is gone on with.
pub(super) struct Earlier {
    /// As it was planned.
    pub(super) record: RunRecord,
    /// Iterations that have their result.
    pub(super) finished: u64,
    /// What an iteration with a result cost on average in US dollars, all its attempts together; `None` when that is not
    /// known of every one.
    pub(super) usual_cost_usd: Option<f64>,
}

/// The run that was asked for, or the newest one that was not graded from another. `None` when it cannot be read: the run itself then says why.
pub(super) fn find(out_dir: &Path, asked: Option<&str>) -> Option<Earlier> {
    let reader = Reader::open(out_dir).ok()?;
    let id = match asked {
        Some(id) => RunId::new(id),
        None => reader.latest_held_run().ok()??,
    };
    let (record, _) = reader.run(&id).ok()??;
    let finished = reader.progress(&id).ok()?.finished.len() as u64;
    let usual_cost_usd = usual_cost(&reader, &id, finished);
    Some(Earlier {
        record,
        finished,
        usual_cost_usd,
    })
}

fn usual_cost(reader: &Reader, run: &RunId, finished: u64) -> Option<f64> {
    let mut sum = Some(0.0);
    let add = &mut |attempt: &AttemptRecord| {
        sum = sum.zip(attempt.usage().cost_usd).map(|(sum, cost)| sum + cost);
        match sum {
            Some(_) => ControlFlow::Continue(()),
            None => ControlFlow::Break(()),
        }
    };
    reader
        .for_each_attempt(run, AttemptFilter::ALL, &mut |attempt| add(&attempt))
        .ok()?;
    #[expect(clippy::cast_precision_loss, reason = "a number of iterations")]
    let usual = sum.filter(|_| finished > 0).map(|sum: f64| sum / finished as f64);
    usual
}

impl Earlier {
    /// Takes over what the command line had changed about the config when the run began: iterations, agents, test cases.
    /// What no longer fits stays as it is, and the run is refused for it.
    pub(super) fn narrow(&self, config: &mut Config, cases: &mut Vec<TestCase>) {
        config.run.iterations = self.record.iterations;
        let agents = |name: &str| self.record.agents.iter().any(|agent| agent.name == name);
        if config.run.agents.iter().any(|agent| agents(&agent.name)) {
            config.run.agents.retain(|agent| agents(&agent.name));
        }
        let known = |case: &TestCase| self.record.test_cases.iter().any(|earlier| earlier.file == case.file);
        if cases.iter().any(known) {
            cases.retain(known);
        }
    }
}
