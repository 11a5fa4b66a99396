//! What the judge said, counted.

use crate::judge::{Agreement, JudgeTally};
use crate::outcome::Outcome;
use crate::record::RunRecord;

use super::Iteration;

/// What the judge said of the iterations of a run.
#[derive(Clone, Debug, Default)]
pub struct JudgeFigures {
    /// Whether the run has a judge.
    pub configured: bool,
    /// Over all cells.
    pub total: JudgeTally,
    /// Iterations that passed or failed and are not judged.
    pub not_judged: u64,
    /// Per cell: iterations on which the judge disagrees.
    pub disagreements: Vec<u64>,
}

impl JudgeFigures {
    /// Nothing counted yet.
    pub(super) fn of(run: &RunRecord) -> Self {
        Self {
            configured: run.judge.is_some(),
            disagreements: vec![0; run.cells()],
            ..Self::default()
        }
    }

    /// Counts the result of an iteration.
    pub(super) fn add(&mut self, iteration: &Iteration) {
        if !self.configured {
            return;
        }
        self.total.usage.add(&iteration.judge_usage_before);
        let Some(result) = &iteration.result else {
            return;
        };
        if let Some(judgement) = &iteration.judgement {
            self.total.usage.add(&judgement.usage());
        }
        if !matches!(result.outcome, Outcome::Passed | Outcome::Failed(_)) {
            return;
        }
        let opinion = iteration.judgement.as_ref().and_then(|it| it.opinion.as_ref());
        let Some(opinion) = opinion else {
            self.not_judged += 1;
            return;
        };
        let agreement = Agreement::between(result.outcome, opinion.verdict);
        self.total.add(opinion.verdict, agreement);
        if agreement == Agreement::Disagrees
            && let Some(count) = self.disagreements.get_mut(iteration.cell)
        {
            *count += 1;
        }
    }
}
