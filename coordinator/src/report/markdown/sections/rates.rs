//! How reliable agents and test cases are.

use super::table::{NAME, agent_name, invalid, rate_cells};
use crate::markdown::{Section, code, head, row};
use crate::record::RunRecord;
use crate::report::forest::{Forest, What};
use crate::report::suite::with_invalid_words;
use crate::report::{Figures, Tally};

pub(in crate::report::markdown) fn rates(run: &RunRecord, figures: &Figures) -> Option<Section> {
    let forest = Forest::of(run, figures);
    // Where groups are single cells, the last section has all of them, with more about each.
    let rows = forest.rows.into_iter().filter(|line| !line.is_of_a_cell);
    let rows = rows.map(|line| {
        let about = match &line.what {
            What::These => "these prompts".to_owned(),
            What::Pooled => "these prompts, pooled".to_owned(),
            What::Like => "prompts like these".to_owned(),
            What::Distinct => "test cases that passed every time".to_owned(),
            What::Group(name) => code(name, NAME),
        };
        let [counts, rate, range] = rate_cells(line.estimate.rate);
        let mut in_no_rate = invalid(&line.tally);
        if let Some(words) = with_invalid_words(&line.tally).filter(|_| line.what == What::These) {
            in_no_rate += &format!("; {words}");
        }
        row(&[
            agent_name(run, line.agent),
            about,
            line.estimate.method,
            in_no_rate,
            counts,
            rate,
            range,
        ])
    });
    Some(Section {
        heading: "### How reliable".to_owned(),
        intro: head(
            &["agent", "about", "method", "in no rate", "passed", "rate", "95% range"],
            4,
        ),
        rows: rows.collect(),
        most_rows: 30,
        left_out: if forest.of_cells { 0 } else { forest.left_out as u64 },
    })
}

pub(in crate::report::markdown) fn cells(run: &RunRecord, figures: &Figures) -> Option<Section> {
    let mut cells: Vec<_> = figures.cells.iter().enumerate().collect();
    if cells.is_empty() {
        return None;
    }
    let failed = |tally: &Tally| (tally.failed() * 1_000).checked_div(tally.pass_rate().n);
    cells.sort_by_key(|(_, cell)| std::cmp::Reverse(failed(&cell.group.tally)));
    let rows = cells.into_iter().map(|(index, cell)| {
        let tally = &cell.group.tally;
        let [counts, rate, range] = rate_cells(tally.pass_rate());
        row(&[
            run.test_case_of(index)
                .map(|case| code(&case.name, NAME))
                .unwrap_or_default(),
            run.agent_of(index)
                .map(|agent| code(&agent.name, NAME))
                .unwrap_or_default(),
            invalid(tally),
            counts,
            rate,
            range,
        ])
    });
    Some(Section {
        heading: "### Test cases and agents, the worst first".to_owned(),
        intro: head(&["test case", "agent", "in no rate", "passed", "rate", "95% range"], 3),
        rows: rows.collect(),
        most_rows: 60,
        left_out: 0,
    })
}
