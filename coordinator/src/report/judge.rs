//! What the judge said, counted.

use crate::judge::{Agreement, JudgeTally, JudgeVerdict};
use crate::outcome::Outcome;
use crate::record::RunRecord;

use super::{Example, Iteration};

/// Iterations on which the judge disagrees that are kept by name.
const MOST_NAMED: usize = 10;

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
    /// The first of them: where, what was measured and what the judge says instead.
    pub first_disagreements: Vec<(Example, Outcome, JudgeVerdict)>,
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
        let agreement = Agreement::with(result, opinion.verdict);
        self.total.add(opinion.verdict, agreement);
        if agreement != Agreement::Disagrees {
            return;
        }
        if let Some(count) = self.disagreements.get_mut(iteration.cell) {
            *count += 1;
        }
        if self.first_disagreements.len() < MOST_NAMED {
            let example = Example::of(iteration.cell, iteration.number);
            self.first_disagreements
                .push((example, result.outcome, opinion.verdict));
        }
    }

    /// `3 judged`, `1 agree`, …, `2 not judged`; empty for a run without a judge.
    pub(super) fn words(&self) -> Vec<String> {
        if !self.configured {
            return Vec::new();
        }
        let mut words = self.total.words();
        if self.not_judged > 0 {
            words.push(format!("{} not judged", self.not_judged));
        }
        words
    }
}
