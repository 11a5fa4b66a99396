//! The rates of a run with their ranges, one under the other: agents as a whole, then groups of their cells.

use crate::record::RunRecord;
use crate::stats::Rate;

use super::suite::{Estimate, suite};
use super::{Figures, Tally};

/// Rows about groups at most; every cell is in the grid of test cases and agents.
const MOST_GROUPS: usize = 24;

/// One rate.
#[derive(Clone, Debug)]
pub(super) struct ForestRow {
    /// Index of the agent.
    pub(super) agent: usize,
    pub(super) what: What,
    pub(super) estimate: Estimate,
    /// Outcomes behind it, those in no rate included.
    pub(super) tally: Tally,
    /// Whether it is about a single cell.
    pub(super) is_of_a_cell: bool,
}

impl ForestRow {
    /// Whether what is in no rate belongs beside it: it is about iterations of exactly these test cases.
    pub(super) fn is_about_iterations(&self) -> bool {
        !matches!(self.what, What::Like | What::Distinct)
    }
}

/// What a rate is about, and so which question it answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum What {
    /// All test cases: how reliably are exactly these done?
    These,
    /// The same, all iterations as one count: a test case with more of them weighs more.
    Pooled,
    /// All test cases: what may be expected of prompts that were not tried?
    Like,
    /// Test cases, not iterations: how many passed every time?
    Distinct,
    /// The test cases of one folder, or a single one: how reliably are exactly these done?
    Group(String),
}

/// Every row, and how many further groups there are.
pub(super) struct Forest {
    pub(super) rows: Vec<ForestRow>,
    pub(super) left_out: usize,
    /// Whether the groups are single cells.
    pub(super) of_cells: bool,
}

impl Forest {
    pub(super) fn of(run: &RunRecord, figures: &Figures) -> Self {
        let columns = run.test_cases.len().max(1);
        let mut rows = Vec::new();
        for (agent, cells) in figures.cells.chunks(columns).enumerate() {
            let tally = figures.agents.get(agent).map(|group| group.tally).unwrap_or_default();
            let of_suite = suite(cells);
            for (what, estimate) in [
                (What::These, of_suite.these),
                (What::Pooled, of_suite.pooled),
                (What::Like, of_suite.like),
                (What::Distinct, of_suite.distinct),
            ] {
                rows.push(ForestRow {
                    agent,
                    what,
                    estimate,
                    tally,
                    is_of_a_cell: false,
                });
            }
        }
        let mut groups = groups(run, figures);
        let left_out = groups.len().saturating_sub(MOST_GROUPS);
        groups.truncate(MOST_GROUPS);
        rows.extend(groups);
        let of_cells = rows.iter().any(|row| row.is_of_a_cell);
        Self {
            rows,
            left_out,
            of_cells,
        }
    }
}

/// The worst first; none where they would repeat what is said of the agents.
fn groups(run: &RunRecord, figures: &Figures) -> Vec<ForestRow> {
    if run.test_cases.len() < 2 {
        return Vec::new();
    }
    let folder = |file: &str| file.rsplit_once('/').map_or("./", |(folder, _)| folder).to_owned();
    let mut folders: Vec<String> = run.test_cases.iter().map(|case| folder(&case.file)).collect();
    folders.sort();
    folders.dedup();
    let by_folder = folders.len() > 1 && folders.len() < run.test_cases.len();
    let mut rows: Vec<ForestRow> = Vec::new();
    for (index, cell) in figures.cells.iter().enumerate() {
        let Some(case) = run.test_case_of(index) else { continue };
        let agent = index / run.test_cases.len();
        let name = if by_folder {
            folder(&case.file)
        } else {
            case.name.clone()
        };
        let what = What::Group(name);
        // Two test cases may have one name; only folders are put together.
        let known = rows
            .iter()
            .position(|row| by_folder && row.agent == agent && row.what == what);
        let row = match known {
            Some(at) => &mut rows[at],
            None => {
                rows.push(ForestRow {
                    agent,
                    what,
                    estimate: Estimate {
                        rate: Rate::of(0, 0),
                        method: if by_folder { "pooled, Wilson" } else { "Wilson" }.to_owned(),
                    },
                    tally: Tally::default(),
                    is_of_a_cell: !by_folder,
                });
                let last = rows.len() - 1;
                &mut rows[last]
            }
        };
        row.tally.merge(&cell.group.tally);
        row.estimate.rate = row.tally.pass_rate();
    }
    rows.sort_by_key(|row| std::cmp::Reverse(share_failed(&row.tally)));
    rows
}

/// In thousandths; a group of which nothing counts comes last.
fn share_failed(tally: &Tally) -> Option<u64> {
    let rate = tally.pass_rate();
    (tally.failed() * 1_000).checked_div(rate.n)
}
