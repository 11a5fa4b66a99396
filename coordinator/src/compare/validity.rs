//! What stands in the way of a comparison, and what is to be known about it.

use serde::Serialize;

use crate::outcome::InvalidCause;
use crate::record::RunState;
use crate::stats::{Count, InvalidHindrance, invalid_hindrance};

use super::count_row::CountRow;
use super::figure::p_value;
use super::pairing::{Common, Paired};
use super::results::Cell;
use super::side::Side;
use crate::words::percent;

/// Invalid iterations of both sides, in the test cases that both did in the same form: also in those of which nothing is left
/// to compare because a side has no valid iteration.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Invalid {
    /// Valid ones out of all, A and B.
    pub valid: [Count; 2],
    /// Attempts, those that were repeated included, A and B.
    pub attempts: [u64; 2],
    /// By cause, in the order of reports.
    pub by_cause: Vec<CountRow>,
    /// Why there is no verdict; `None` when they do not stand in its way.
    pub hindrance: Option<String>,
}

impl Invalid {
    pub(super) fn of(paired: &Paired<'_>) -> Self {
        let all = || paired.common.iter().chain(&paired.never_valid);
        let count = |cell: &Cell, cause| cell.invalid.get(&cause).copied().unwrap_or(0);
        let by_cause = CountRow::all(InvalidCause::ALL.into_iter().map(|cause| CountRow {
            what: cause.name(),
            sides: [
                all().map(|case| count(case.a, cause)).sum(),
                all().map(|case| count(case.b, cause)).sum(),
            ],
        }));
        let valid = both_valid(all());
        Self {
            valid,
            attempts: [
                all().map(|case| case.a.attempts).sum(),
                all().map(|case| case.b.attempts).sum(),
            ],
            by_cause,
            hindrance: hindrance(valid[0], valid[1]),
        }
    }
}

/// Valid iterations of both sides out of all.
pub(super) fn both_valid<'a>(cases: impl Iterator<Item = &'a Common<'a>>) -> [Count; 2] {
    cases.fold([Count::default(); 2], |[a, b], case| {
        [plus(a, valid_a(case)), plus(b, valid_b(case))]
    })
}

/// Valid iterations of side A out of all, in one test case.
pub(super) fn valid_a(case: &Common<'_>) -> Count {
    let valid = case.a.count().total();
    Count::of(valid, valid + case.a.invalid())
}

/// The same of side B.
pub(super) fn valid_b(case: &Common<'_>) -> Count {
    let valid = case.b.count().total();
    Count::of(valid, valid + case.b.invalid())
}

fn plus(one: Count, other: Count) -> Count {
    Count::of(one.passed() + other.passed(), one.total() + other.total())
}

/// Why invalid iterations stand in the way of a verdict, in words.
pub(super) fn hindrance(a: Count, b: Count) -> Option<String> {
    Some(match invalid_hindrance(a, b)? {
        InvalidHindrance::TooMany(share) => {
            format!("{} of the iterations of a side are invalid, over 5%", percent(share))
        }
        InvalidHindrance::Unbalanced(p) => {
            format!(
                "one side has more invalid iterations than chance explains ({})",
                p_value(p)
            )
        }
    })
}

/// What a reader has to know before believing any figure.
pub(super) fn warnings(a: &Side<'_>, b: &Side<'_>) -> Vec<String> {
    let mut warnings = Vec::new();
    for (letter, side) in [("A", a), ("B", b)] {
        let missing = side.missing();
        if side.state() != RunState::Completed {
            let how = match side.state() {
                RunState::Running => "is still running, or was interrupted",
                RunState::Aborted | RunState::Completed => "was stopped",
            };
            warnings.push(format!(
                "the run of side {letter} {how}: {missing} of its iterations have no result"
            ));
        } else if missing > 0 {
            warnings.push(format!("{missing} iterations of side {letter} have no result"));
        }
        for (server, faces) in &side.seen().servers {
            let mut lists: Vec<_> = faces.keys().filter_map(|face| face.tools_sha256.as_ref()).collect();
            lists.sort_unstable();
            lists.dedup();
            if lists.len() > 1 {
                warnings.push(format!(
                    "the tool list of {server} changed inside the run of side {letter}: {} different lists",
                    lists.len()
                ));
            }
        }
    }
    let own_login = |side: &Side<'_>| side.agent().is_some_and(|agent| agent.own_login);
    match (own_login(a), own_login(b)) {
        (true, false) => warnings.push("side A ran with the user's own login, not isolated; side B did not".to_owned()),
        (false, true) => warnings.push("side B ran with the user's own login, not isolated; side A did not".to_owned()),
        (true, true) | (false, false) => {}
    }
    warnings
}
