//! The two questions that a comparison answers.

use serde::Serialize;

use crate::stats::compare::{
    Detectable, DifferenceRange, ExactTest, Pair, PerCase, Verdict, detectable, mantel_haenszel, per_case,
    stratified_exact, verdict,
};
use crate::stats::suite::{LikeThese, SuiteRate, TooFewCases, distinct, like_these, pooled, these_prompts};
use crate::stats::{Count, Interval, Rate, bounds_with_invalid};

/// The suite as one side did it.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SuiteFigures {
    /// The mean rate of these prompts.
    pub suite: SuiteRate,
    /// All iterations as one count.
    pub pooled: Rate,
    /// Test cases that passed every time.
    pub distinct: Rate,
    /// The range whatever the invalid iterations would have come to; `None` without any.
    pub with_invalid: Option<Interval>,
}

/// Which side does exactly these prompts more often?
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ThesePrompts {
    /// Both sides.
    pub sides: [SuiteFigures; 2],
    /// B minus A.
    pub difference: DifferenceRange,
    /// The primary test.
    pub test: ExactTest,
    /// Its p by Holm's procedure over all comparisons made at once; the same where there is one.
    pub adjusted_p: f64,
    /// What the iterations of both sides could show, from the pooled rate of A.
    pub detectable: Detectable,
    /// The verdict; `None` when invalid iterations stand in its way.
    pub verdict: Option<Verdict>,
}

/// Which side may be expected to do other prompts like these more often?
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct LikeThesePrompts {
    /// Both sides.
    pub sides: [LikeThese; 2],
    /// The differences per test case.
    pub per_case: PerCase,
    /// The verdict; `None` when invalid iterations stand in its way.
    pub verdict: Option<Verdict>,
}

impl ThesePrompts {
    /// `valid` are the valid iterations of these test cases out of all. `None` when there is nothing to compare.
    pub(super) fn of(pairs: &[Pair], valid: [Count; 2]) -> Option<Self> {
        let (a, b) = sides(pairs);
        let (pooled_a, pooled_b) = (pooled(&a), pooled(&b));
        let test = stratified_exact(pairs)?;
        Some(Self {
            difference: mantel_haenszel(pairs)?,
            adjusted_p: test.p,
            test,
            detectable: detectable(pooled_a.count as f64 / pooled_a.n as f64, pooled_a.n, pooled_b.n),
            sides: [figures(&a, valid[0])?, figures(&b, valid[1])?],
            verdict: None,
        })
    }

    /// Sets p as adjusted over all comparisons, and with it the verdict.
    pub(super) fn conclude(&mut self, adjusted_p: f64, margin: f64, hindered: bool) {
        self.adjusted_p = adjusted_p;
        self.verdict = (!hindered).then(|| verdict(adjusted_p, self.difference.range, margin));
    }
}

impl LikeThesePrompts {
    pub(super) fn of(pairs: &[Pair], margin: f64, hindered: bool) -> Result<Self, TooFewCases> {
        let (a, b) = sides(pairs);
        let per_case = per_case(pairs)?;
        Ok(Self {
            sides: [like_these(&a)?, like_these(&b)?],
            verdict: (!hindered).then(|| verdict(per_case.test.p, per_case.difference.range, margin)),
            per_case,
        })
    }
}

fn sides(pairs: &[Pair]) -> (Vec<Count>, Vec<Count>) {
    pairs.iter().map(|pair| (pair.a, pair.b)).unzip()
}

fn figures(cells: &[Count], valid: Count) -> Option<SuiteFigures> {
    let pooled = pooled(cells);
    let invalid = valid.failed();
    Some(SuiteFigures {
        suite: these_prompts(cells)?,
        with_invalid: (invalid > 0)
            .then(|| bounds_with_invalid(Count::of(pooled.count, pooled.n), invalid))
            .flatten(),
        pooled,
        distinct: distinct(cells),
    })
}
