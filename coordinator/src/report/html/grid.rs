//! Agents × test cases: what fails is seen first.

use crate::record::{AgentRecord, RunRecord};
use crate::report::{Figures, Group};

use crate::report::rate::{RateView, failed_by_class, invalid_by_cause};

/// Rows shown before "show all".
const FIRST_ROWS: usize = 12;

/// The grid.
pub(super) struct GridView {
    /// Column heads.
    pub(super) agents: Vec<GridHead>,
    /// One row over all test cases.
    pub(super) total: GridRow,
    /// The worst rows first, in plan order where they are alike.
    pub(super) rows: Vec<GridRow>,
    /// What is beyond the first rows.
    pub(super) more: Vec<GridRow>,
}

/// One agent.
pub(super) struct GridHead {
    pub(super) name: String,
    /// `2.1.197, process sandbox, own login`.
    pub(super) about: String,
}

/// One test case.
pub(super) struct GridRow {
    pub(super) name: String,
    pub(super) file: String,
    pub(super) cells: Vec<GridCell>,
}

/// One agent in one test case.
pub(super) struct GridCell {
    pub(super) agent: String,
    /// Where a click leads.
    pub(super) href: String,
    pub(super) rate: RateView,
    pub(super) failed: Option<String>,
    pub(super) failed_count: u64,
    pub(super) invalid: Option<String>,
    pub(super) invalid_count: u64,
    /// Still to come, or never run.
    pub(super) open_count: u64,
    /// `passed`, `failed`, `invalid` or `none`: what the eye should see.
    pub(super) status: &'static str,
    /// How strongly it asks to be seen, by the share that failed: empty, `some` or `many`.
    pub(super) wash: &'static str,
}

impl GridView {
    pub(super) fn of(run: &RunRecord, figures: &Figures) -> Self {
        let cases = run.test_cases.len();
        let mut order: Vec<usize> = (0..cases).collect();
        order.sort_by_cached_key(|case| {
            let worst = figures
                .cells
                .iter()
                .skip(*case)
                .step_by(cases.max(1))
                .map(|cell| badness(&cell.group))
                .max();
            std::cmp::Reverse(worst)
        });
        let mut rows: Vec<GridRow> = order
            .into_iter()
            .filter_map(|case| {
                let record = run.test_cases.get(case)?;
                Some(GridRow {
                    name: record.name.clone(),
                    file: record.file.clone(),
                    cells: run
                        .agents
                        .iter()
                        .enumerate()
                        .filter_map(|(agent, who)| {
                            let index = agent * cases + case;
                            let group = &figures.cells.get(index)?.group;
                            Some(GridCell::of(
                                &who.name,
                                format!("#cell={index}"),
                                group,
                                u64::from(run.iterations),
                            ))
                        })
                        .collect(),
                })
            })
            .collect();
        let more = rows.split_off(rows.len().min(FIRST_ROWS));
        let planned = cases as u64 * u64::from(run.iterations);
        Self {
            agents: run.agents.iter().map(GridHead::of).collect(),
            total: GridRow {
                name: "All test cases".to_owned(),
                file: String::new(),
                cells: run
                    .agents
                    .iter()
                    .zip(&figures.agents)
                    .enumerate()
                    .map(|(index, (agent, group))| GridCell::of(&agent.name, format!("#agent={index}"), group, planned))
                    .collect(),
            },
            rows,
            more,
        }
    }
}

impl GridHead {
    fn of(agent: &AgentRecord) -> Self {
        let mut about: Vec<String> = agent.version.iter().cloned().collect();
        about.push(format!("{} sandbox", agent.sandbox));
        if agent.own_login {
            about.push("own login".to_owned());
        }
        Self {
            name: agent.name.clone(),
            about: about.join(", "),
        }
    }
}

impl GridCell {
    fn of(agent: &str, href: String, group: &Group, planned: u64) -> Self {
        let tally = &group.tally;
        Self {
            agent: agent.to_owned(),
            href,
            rate: RateView::of(tally.pass_rate()),
            failed: failed_by_class(tally),
            failed_count: tally.failed(),
            invalid: invalid_by_cause(tally),
            invalid_count: tally.invalid(),
            open_count: planned.saturating_sub(tally.passed + tally.failed() + tally.invalid()),
            status: match (tally.failed(), tally.passed, tally.invalid()) {
                (1.., _, _) => "failed",
                (0, 1.., _) => "passed",
                (0, 0, 1..) => "invalid",
                _ => "none",
            },
            wash: match badness(group).0 {
                0..100 => "",
                100..500 => "some",
                500.. => "many",
            },
        }
    }
}

/// How much a cell needs to be seen: the share that failed, then the share that is invalid, in thousandths.
fn badness(group: &Group) -> (u64, u64) {
    let tally = &group.tally;
    let share = |part: u64, whole: u64| (part * 1000).checked_div(whole).unwrap_or(0);
    (
        share(tally.failed(), tally.failed() + tally.passed),
        share(tally.invalid(), tally.total()),
    )
}
