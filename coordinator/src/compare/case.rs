//! The test cases of a comparison, one by one.

use serde::Serialize;

use crate::stats::Rate;
use crate::stats::compare::{
    Detectable, DifferenceRange, ExactTest, LEAD_SHARE, Verdict, detectable, fisher, holm, leads, newcombe, verdict,
};

use super::pairing::Common;
use super::validity::{hindrance, valid_a, valid_b};

/// One test case on both sides.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CaseRow {
    /// Its name.
    pub name: String,
    /// Its file.
    pub file: String,
    /// Passed of valid iterations, A and B.
    pub sides: [Rate; 2],
    /// Invalid iterations, A and B.
    pub invalid: [u64; 2],
    /// B minus A.
    pub difference: DifferenceRange,
    /// Fisher's exact test.
    pub test: ExactTest,
    /// Its p by Holm's procedure with Tarone's correction, over the test cases.
    pub adjusted_p: f64,
    /// The q-value of Benjamini and Hochberg.
    pub q: f64,
    /// Whether it is worth a look although nothing is shown.
    pub lead: bool,
    /// What the iterations of both sides could show, from the rate of A.
    pub detectable: Detectable,
    /// The verdict; `None` when invalid iterations stand in its way.
    pub verdict: Option<Verdict>,
}

/// The rows, in the order of the test cases. `hindered` when there is no verdict on any.
pub(super) fn case_rows(common: &[Common<'_>], margin: f64, hindered: bool) -> Vec<CaseRow> {
    let tested: Vec<_> = common
        .iter()
        .filter_map(|case| {
            let (a, b) = (case.a.count(), case.b.count());
            Some((case, fisher(a, b)?, newcombe(a, b)?))
        })
        .collect();
    let adjusted = holm(&tested.iter().map(|(_, test, _)| *test).collect::<Vec<_>>());
    let q_values = leads(&tested.iter().map(|(_, test, _)| test.p).collect::<Vec<_>>());
    tested
        .into_iter()
        .zip(adjusted.into_iter().zip(q_values))
        .map(|((case, test, difference), (adjusted_p, q))| {
            let (a, b) = (case.a.count(), case.b.count());
            let hindered = hindered || hindrance(valid_a(case), valid_b(case)).is_some();
            let verdict = (!hindered).then(|| verdict(adjusted_p, difference.range, margin));
            CaseRow {
                name: case.case.name.clone(),
                file: case.case.file.clone(),
                sides: [a, b].map(|count| Rate::of(count.passed(), count.total())),
                invalid: [case.a.invalid(), case.b.invalid()],
                difference,
                test,
                adjusted_p,
                q,
                lead: q <= LEAD_SHARE && verdict.is_some_and(|verdict| verdict != Verdict::DifferenceShown),
                detectable: detectable(a.share().unwrap_or(0.0), a.total(), b.total()),
                verdict,
            }
        })
        .collect()
}
