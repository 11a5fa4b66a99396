//! A comparison as a whole.

use serde::Serialize;

use crate::outcome::FailureClass;
use crate::stats::compare::holm;

use super::case::{CaseRow, case_rows};
use super::changes::{Change, changes, servers};
use super::count_row::CountRow;
use super::pairing::{Common, LeftOut, Paired, pair_cases};
use super::question::{LikeThesePrompts, ThesePrompts};
use super::results::Cell;
use super::side::{Side, SideFacts};
use super::spread::{SpreadRow, spread_rows};
use super::tools::{ToolChange, ToolLists, tool_changes};
use super::validity::{Invalid, both_valid, warnings};
use super::{CompareError, Sides};

/// Two sides compared.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Comparison {
    /// A and B.
    pub sides: [SideFacts; 2],
    /// What has to be known before believing any figure.
    pub warnings: Vec<String>,
    /// Exactly these prompts.
    pub these_prompts: ThesePrompts,
    /// Prompts like these; `None` with too few test cases.
    pub like_these_prompts: Option<LikeThesePrompts>,
    /// Why nothing is said about prompts like these.
    pub too_few_cases: Option<String>,
    /// The test cases compared.
    pub cases: Vec<CaseRow>,
    /// The test cases left out.
    pub left_out: Vec<LeftOut>,
    /// Failures by class, in the order of reports.
    pub failures: Vec<CountRow>,
    /// Invalid iterations.
    pub invalid: Invalid,
    /// Durations, tokens, cost.
    pub spreads: Vec<SpreadRow>,
    /// What else differs.
    pub changes: Vec<Change>,
    /// How the tools differ.
    pub tools: Vec<ToolChange>,
}

/// Compares each two sides, for a margin in `0.0..=1.0`.
///
/// The primary tests are adjusted for each other by Holm's procedure where there are several.
///
/// # Errors
///
/// [`CompareError`] for the first two sides that cannot be compared.
pub fn compare(sides: &[Sides<'_>], lists: &ToolLists, margin: f64) -> Result<Vec<Comparison>, CompareError> {
    let mut comparisons: Vec<Comparison> = sides
        .iter()
        .map(|(a, b)| compare_two(a, b, lists, margin))
        .collect::<Result<_, _>>()?;
    let tests: Vec<_> = comparisons
        .iter()
        .map(|comparison| comparison.these_prompts.test)
        .collect();
    for (comparison, p) in comparisons.iter_mut().zip(holm(&tests)) {
        // One alone is not adjusted, not even where it could not have shown anything.
        let p = if tests.len() == 1 {
            comparison.these_prompts.test.p
        } else {
            p
        };
        let hindered = comparison.invalid.hindrance.is_some();
        comparison.these_prompts.conclude(p, margin, hindered);
    }
    Ok(comparisons)
}

fn compare_two(a: &Side<'_>, b: &Side<'_>, lists: &ToolLists, margin: f64) -> Result<Comparison, CompareError> {
    if a.is(b) {
        return Err(CompareError::Same(a.name()));
    }
    let origin = |side: &Side<'_>| side.run().graded_from.clone().unwrap_or_else(|| side.run().id.clone());
    let agent = |side: &Side<'_>| side.agent().map(|agent| agent.name.clone());
    if a.run().id != b.run().id && origin(a) == origin(b) && agent(a) == agent(b) {
        return Err(CompareError::SameRecordings {
            a: a.name(),
            b: b.name(),
        });
    }
    let paired = pair_cases(a, b);
    let invalid = Invalid::of(&paired);
    let Paired { common, left_out, .. } = paired;
    let hindered = invalid.hindrance.is_some();
    let pairs: Vec<_> = common.iter().map(Common::pair).collect();
    let these_prompts =
        ThesePrompts::of(&pairs, both_valid(common.iter())).ok_or_else(|| CompareError::NoCommonCase {
            a: a.name(),
            b: b.name(),
            reasons: left_out
                .iter()
                .take(3)
                .map(|out| format!("{}: {}", out.name, out.why))
                .collect(),
        })?;
    let (like_these_prompts, too_few_cases) = match LikeThesePrompts::of(&pairs, margin, hindered) {
        Ok(answer) => (Some(answer), None),
        Err(too_few) => (None, Some(too_few.to_string())),
    };
    let changes = changes(a, b);
    let tools = servers(a, b)
        .iter()
        .flat_map(|server| tool_changes(a, b, server, lists))
        .collect();
    Ok(Comparison {
        sides: [a.facts(), b.facts()],
        warnings: warnings(a, b),
        these_prompts,
        like_these_prompts,
        too_few_cases,
        cases: case_rows(&common, margin, hindered),
        left_out,
        failures: failures(&common),
        invalid,
        spreads: spread_rows(&common),
        changes,
        tools,
    })
}

fn failures(common: &[Common<'_>]) -> Vec<CountRow> {
    let count = |cell: &Cell, class| cell.failed.get(&class).copied().unwrap_or(0);
    CountRow::all(FailureClass::ALL.into_iter().map(|class| CountRow {
        what: class.name(),
        sides: [
            common.iter().map(|case| count(case.a, class)).sum(),
            common.iter().map(|case| count(case.b, class)).sum(),
        ],
    }))
}
