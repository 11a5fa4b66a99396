//! A test case as a row.

use crate::stats::compare::Verdict;

use super::super::CaseRow;
use super::super::figure::{difference, p_value};
use super::clean::clean_line;
use super::question::{Bar, rate};
use super::words::{can_show, class};

/// A row of the table of test cases.
pub(in super::super) struct CaseView {
    pub(in super::super) name: String,
    pub(in super::super) a: String,
    pub(in super::super) b: String,
    pub(in super::super) difference: String,
    pub(in super::super) bar: Bar,
    /// The p of the test, and as adjusted over the test cases.
    pub(in super::super) p: String,
    pub(in super::super) verdict: String,
    pub(in super::super) class: &'static str,
    pub(in super::super) lead: bool,
}

impl CaseView {
    pub(super) fn of(row: &CaseRow, margin: f64) -> Self {
        let side = |index: usize| {
            let invalid = match row.invalid[index] {
                0 => String::new(),
                invalid => format!(", {invalid} invalid"),
            };
            format!("{}{invalid}", rate(&row.sides[index]))
        };
        let verdict = match row.verdict {
            Some(Verdict::TooFewToTell) => match can_show(&row.detectable) {
                Some(shown) => format!("too few iterations to tell (they can show {shown})"),
                None => "too few iterations to tell (they cannot show any difference)".to_owned(),
            },
            Some(verdict) => verdict.words(margin),
            None => "no verdict".to_owned(),
        };
        Self {
            name: clean_line(&row.name),
            a: side(0),
            b: side(1),
            difference: difference(row.difference),
            bar: Bar::of(&row.difference),
            p: format!(
                "{}, adjusted {}",
                p_value(row.test.p),
                p_value(row.adjusted_p).trim_start_matches("p ")
            ),
            verdict,
            class: class(row.verdict),
            lead: row.lead,
        }
    }

    /// The verdict, and whether the test case is a lead, in one line.
    pub(in super::super) fn verdict_and_lead(&self) -> String {
        if self.lead {
            format!("{}; a lead", self.verdict)
        } else {
            self.verdict.clone()
        }
    }
}
