//! Why iterations failed, agent by agent: two agents with one rate can fail in different ways.

use crate::outcome::FailureClass;
use crate::record::RunRecord;
use crate::report::Figures;
use crate::words::percent;

/// Failure classes by agent.
pub(super) struct ClassesView {
    pub(super) agents: Vec<String>,
    /// Classes that occurred.
    pub(super) rows: Vec<ClassRow>,
    /// Failed iterations of each agent.
    pub(super) failed: Vec<u64>,
    /// Iterations of each agent that passed or failed.
    pub(super) n: Vec<u64>,
}

/// One class.
pub(super) struct ClassRow {
    pub(super) class: String,
    /// What happened, as a sentence.
    pub(super) says: &'static str,
    pub(super) cells: Vec<ClassCell>,
}

/// One class of one agent.
pub(super) struct ClassCell {
    pub(super) count: u64,
    /// The share of the agent's failures, in words and on a scale of 0 to 100; absent under 5 failures.
    pub(super) share: Option<(String, String)>,
}

impl ClassesView {
    pub(super) fn of(run: &RunRecord, figures: &Figures) -> Self {
        let tallies = || figures.agents.iter().map(|group| &group.tally);
        let count = |class: FailureClass| -> Vec<u64> {
            tallies()
                .map(|tally| {
                    tally
                        .by_class()
                        .find(|(known, _)| *known == class)
                        .map_or(0, |(_, n)| n)
                })
                .collect()
        };
        let failed: Vec<u64> = tallies().map(|tally| tally.failed()).collect();
        let rows = FailureClass::ALL
            .into_iter()
            .map(|class| (class, count(class)))
            .filter(|(_, counts)| counts.iter().any(|count| *count > 0))
            .map(|(class, counts)| ClassRow {
                class: class.name().replace('_', " "),
                says: class.says(),
                cells: counts
                    .into_iter()
                    .zip(&failed)
                    .map(|(count, of)| ClassCell {
                        count,
                        share: share(count, *of),
                    })
                    .collect(),
            })
            .collect();
        Self {
            agents: run.agents.iter().map(|agent| agent.name.clone()).collect(),
            rows,
            failed,
            n: tallies().map(|tally| tally.pass_rate().n).collect(),
        }
    }
}

#[expect(clippy::cast_precision_loss, reason = "counts of iterations are far below 2^52")]
fn share(count: u64, of: u64) -> Option<(String, String)> {
    (of >= crate::stats::SMALLEST_N_WITH_A_RATE).then(|| {
        let share = count as f64 / of as f64;
        (percent(share), format!("{:.1}", share * 100.0))
    })
}
