//! What a resumed run repeats without being told again.

use std::path::Path;

use mcproctor_proto::id::RunId;

use super::cost::{UsualCost, cost_of};
use crate::config::Config;
use crate::record::RunRecord;
use crate::store::Reader;
use crate::testcase::TestCase;

/// A run that is gone on with.
pub(super) struct Earlier {
    /// As it was planned.
    pub(super) record: RunRecord,
    /// Iterations that have their result.
    pub(super) finished: u64,
    /// What its conversations cost so far, where that is known.
    pub(super) usual_cost: Option<UsualCost>,
}

/// The run that was asked for, or the newest one that was not graded from another. `None` when it cannot be read: the run
/// itself then says why.
pub(super) fn find(out_dir: &Path, asked: Option<&str>) -> Option<Earlier> {
    let reader = Reader::open(out_dir).ok()?;
    let id = match asked {
        Some(id) => RunId::new(id),
        None => reader.latest_held_run().ok()??,
    };
    let (record, _) = reader.run(&id).ok()??;
    let finished = reader.progress(&id).ok()?.finished.len() as u64;
    let usual_cost = cost_of(&reader, &record);
    Some(Earlier {
        record,
        finished,
        usual_cost,
    })
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
