//! Whether a run reached what was asked of it.

use std::fmt;

use super::model::{Measure, Thresholds};
use super::share::Share;
use crate::stats::suite::these_prompts;
use crate::stats::{Count, LARGEST_INVALID_SHARE, SMALLEST_N_WITH_A_RATE, wilson};

/// What the iterations of a cell came to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Iterations that passed.
    pub passed: u64,
    /// Iterations that failed.
    pub failed: u64,
    /// Iterations that stayed invalid, or have no result.
    pub invalid: u64,
}

impl Counts {
    /// Of a cell with so many iterations planned. One without a result counts with the invalid ones: nothing is known of it
    /// either.
    pub fn of(planned: u32, passed: u64, failed: u64) -> Self {
        Self {
            passed,
            failed,
            invalid: u64::from(planned).saturating_sub(passed + failed),
        }
    }

    fn all(self) -> u64 {
        self.passed + self.failed + self.invalid
    }

    fn valid(self) -> Count {
        Count::of(self.passed, self.passed + self.failed)
    }

    /// With every invalid iteration counted as failed.
    fn worst_case(self) -> Count {
        Count::of(self.passed, self.all())
    }
}

/// A threshold that was not met.
#[derive(Clone, Debug, PartialEq)]
pub struct Shortfall {
    /// The agent.
    pub agent: String,
    /// The test case; the whole suite when absent.
    pub test_case: Option<String>,
    /// What was asked.
    pub threshold: Share,
    /// What was held against it.
    pub on: Measure,
    /// What it came to, in `0.0..=1.0`; `None` when there was too little to say.
    pub reached: Option<f64>,
    /// Iterations that passed, out of those that count.
    pub count: Count,
    /// Invalid iterations that were counted as failed, because there are too many to leave them out.
    pub counted_as_failed: u64,
}

/// Every threshold that is not met, for each agent its suite first. `cells` are as in the run: agent by agent, and of each
/// agent test case by test case.
///
/// Invalid iterations are left out, as in every rate. Over [`LARGEST_INVALID_SHARE`] of them are too many to be ignored, and
/// then each counts as failed: the worst case (J. L. Horowitz and C. F. Manski, JASA 95, 2000).
pub fn shortfalls(thresholds: &Thresholds, agents: &[String], cases: &[String], cells: &[Counts]) -> Vec<Shortfall> {
    let mut missed = Vec::new();
    for (agent, cells) in agents.iter().zip(cells.chunks(cases.len().max(1))) {
        let all: u64 = cells.iter().map(|cell| cell.all()).sum();
        let invalid: u64 = cells.iter().map(|cell| cell.invalid).sum();
        let worst = too_many(invalid, all);
        let counts: Vec<Count> = cells.iter().map(|cell| counted(*cell, worst)).collect();
        let shortfall = |test_case: Option<&String>, threshold, reached, count, counted_as_failed| Shortfall {
            agent: agent.clone(),
            test_case: test_case.cloned(),
            threshold,
            on: thresholds.on,
            reached,
            count,
            counted_as_failed,
        };
        if let Some(threshold) = thresholds.suite {
            let reached = of_suite(&counts, thresholds.on);
            if !meets(reached, threshold) {
                let passed = counts.iter().map(|count| count.passed()).sum();
                let total = counts.iter().map(|count| count.total()).sum();
                let failed = if worst { invalid } else { 0 };
                missed.push(shortfall(None, threshold, reached, Count::of(passed, total), failed));
            }
        }
        if let Some(threshold) = thresholds.test_case {
            for (case, cell) in cases.iter().zip(cells) {
                let worst = too_many(cell.invalid, cell.all());
                let count = counted(*cell, worst);
                let reached = of_case(count, thresholds.on);
                if !meets(reached, threshold) {
                    let failed = if worst { cell.invalid } else { 0 };
                    missed.push(shortfall(Some(case), threshold, reached, count, failed));
                }
            }
        }
    }
    missed
}

/// Why a run of this size cannot reach the thresholds even if everything passes, or cannot tell.
pub fn out_of_reach(thresholds: &Thresholds, test_cases: usize, iterations: u32) -> Option<String> {
    let each = Count::of(iterations.into(), iterations.into());
    let suite = || of_suite(&vec![each; test_cases], thresholds.on);
    let asked = [
        ("suite", thresholds.suite.map(|threshold| (threshold, suite()))),
        (
            "testCase",
            thresholds
                .test_case
                .map(|threshold| (threshold, of_case(each, thresholds.on))),
        ),
    ];
    asked.into_iter().find_map(|(key, asked)| {
        let (threshold, best) = asked?;
        match best {
            best if meets(best, threshold) => None,
            Some(best) => Some(format!(
                "run.thresholds.{key}: {threshold} cannot be reached on the range's lower end: if all iterations pass, \
                 it is {:.1}%; raise the iterations, lower the threshold, or try it out with --no-thresholds",
                best * 100.0
            )),
            None => Some(format!(
                "run.thresholds.{key}: under {SMALLEST_N_WITH_A_RATE} iterations have no rate to hold against {threshold}; \
                 raise the iterations, or try it out with --no-thresholds"
            )),
        }
    })
}

fn too_many(invalid: u64, all: u64) -> bool {
    Count::of(invalid, all)
        .share()
        .is_some_and(|share| share > LARGEST_INVALID_SHARE)
}

fn counted(cell: Counts, worst: bool) -> Count {
    if worst { cell.worst_case() } else { cell.valid() }
}

fn of_case(count: Count, on: Measure) -> Option<f64> {
    match on {
        Measure::Rate => count.share().filter(|_| count.total() >= SMALLEST_N_WITH_A_RATE),
        Measure::LowerEnd => wilson(count.passed(), count.total()).map(|range| range.low),
    }
}

fn of_suite(counts: &[Count], on: Measure) -> Option<f64> {
    // A test case without a single valid iteration would drop out, and its failures with it.
    if counts.iter().any(|count| count.total() == 0) {
        return None;
    }
    let suite = these_prompts(counts)?;
    match on {
        Measure::Rate => suite.rate,
        Measure::LowerEnd => Some(suite.range.low),
    }
}

fn meets(reached: Option<f64>, threshold: Share) -> bool {
    // 9 of 10 is 0.9 to the last bit of neither.
    reached.is_some_and(|reached| reached >= threshold.get() - 1e-12)
}

/// A sentence about a threshold that was not reached, the name of the test case in it apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShortfallSentence<'a> {
    /// What stands before the name, or all that stands before the figures.
    pub before: String,
    /// The test case; `None` where it is about the suite.
    pub test_case: Option<&'a str>,
    /// What stands after it.
    pub after: String,
}

impl Shortfall {
    /// The sentence in parts, for those who show the name in a way of its own.
    pub fn sentence(&self) -> ShortfallSentence<'_> {
        let of = if self.test_case.is_some() {
            "test case "
        } else {
            "suite"
        };
        let invalid = match self.counted_as_failed {
            0 => String::new(),
            invalid => format!(" ({invalid} invalid counted as failed)"),
        };
        let reached = match (self.reached, self.on) {
            (None, _) => "too few for a rate".to_owned(),
            (Some(reached), Measure::Rate) => format!("a rate of {:.1}%", reached * 100.0),
            (Some(reached), Measure::LowerEnd) => format!("the range's lower end is {:.1}%", reached * 100.0),
        };
        ShortfallSentence {
            before: format!("agent {}, {of}", self.agent),
            test_case: self.test_case.as_deref(),
            after: format!(
                ": {} of {} passed{invalid}, {reached}; the threshold is {}",
                self.count.passed(),
                self.count.total(),
                self.threshold
            ),
        }
    }
}

impl fmt::Display for Shortfall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ShortfallSentence {
            before,
            test_case,
            after,
        } = self.sentence();
        match test_case {
            Some(case) => write!(f, "{before}`{case}`{after}"),
            None => write!(f, "{before}{after}"),
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may fail by panicking")]

    use super::*;

    fn names<const N: usize>(names: [&str; N]) -> Vec<String> {
        names.map(str::to_owned).to_vec()
    }

    fn cell(passed: u64, failed: u64, invalid: u64) -> Counts {
        Counts {
            passed,
            failed,
            invalid,
        }
    }

    fn thresholds(suite: Option<&str>, test_case: Option<&str>, on: Measure) -> Thresholds {
        let share = |text: Option<&str>| text.map(|text| text.parse().unwrap());
        Thresholds {
            suite: share(suite),
            test_case: share(test_case),
            on,
        }
    }

    fn said(thresholds: &Thresholds, cells: &[Counts]) -> Vec<String> {
        let cases = names(["a", "b"]);
        let agents = names(["claude", "codex"]);
        shortfalls(thresholds, &agents, &cases, cells)
            .iter()
            .map(ToString::to_string)
            .collect()
    }

    #[test]
    fn a_rate_at_the_threshold_meets_it() {
        let ninety = thresholds(Some("90%"), Some("0.9"), Measure::Rate);
        assert!(said(&ninety, &[cell(9, 1, 0); 4]).is_empty());
        assert_eq!(
            said(&ninety, &[cell(10, 0, 0), cell(9, 1, 0), cell(10, 0, 0), cell(7, 3, 0)]),
            [
                "agent codex, suite: 17 of 20 passed, a rate of 85.0%; the threshold is 90%",
                "agent codex, test case `b`: 7 of 10 passed, a rate of 70.0%; the threshold is 90%",
            ]
        );
    }

    #[test]
    fn every_test_case_weighs_the_same_in_the_suite() {
        let half = thresholds(Some("70%"), None, Measure::Rate);
        // Pooled it would be 92 of 100.
        let uneven = [cell(90, 0, 0), cell(2, 8, 0), cell(10, 0, 0), cell(10, 0, 0)];
        assert_eq!(
            said(&half, &uneven),
            ["agent claude, suite: 92 of 100 passed, a rate of 60.0%; the threshold is 70%"]
        );
    }

    #[test]
    fn a_lucky_run_does_not_reach_a_lower_end() {
        let lower = thresholds(None, Some("80%"), Measure::LowerEnd);
        let cells = [cell(10, 0, 0), cell(40, 0, 0), cell(40, 0, 0), cell(40, 0, 0)];
        assert_eq!(
            said(&lower, &cells),
            ["agent claude, test case `a`: 10 of 10 passed, the range's lower end is 72.2%; the threshold is 80%"]
        );
    }

    #[test]
    fn few_invalid_ones_are_left_out_and_many_count_as_failed() {
        let ninety = thresholds(None, Some("90%"), Measure::Rate);
        let cells = [cell(19, 0, 1), cell(18, 0, 2), cell(17, 0, 3), cell(20, 0, 0)];
        assert_eq!(
            said(&ninety, &cells),
            [
                "agent codex, test case `a`: 17 of 20 passed (3 invalid counted as failed), a rate of 85.0%; the threshold is 90%"
            ]
        );
        let suite = thresholds(Some("90%"), None, Measure::Rate);
        assert_eq!(
            said(
                &suite,
                &[cell(10, 0, 0), cell(0, 0, 10), cell(10, 0, 0), cell(10, 0, 0)]
            ),
            [
                "agent claude, suite: 10 of 20 passed (10 invalid counted as failed), a rate of 50.0%; the threshold is 90%"
            ]
        );
    }

    #[test]
    fn what_cannot_be_told_is_not_met() {
        let any = thresholds(None, Some("1%"), Measure::Rate);
        assert_eq!(
            said(&any, &[cell(4, 0, 0), cell(5, 0, 0), cell(5, 0, 0), cell(5, 0, 0)]),
            ["agent claude, test case `a`: 4 of 4 passed, too few for a rate; the threshold is 1%"]
        );
    }

    #[test]
    fn a_threshold_out_of_reach_is_told_before_anything_is_run() {
        let lower = thresholds(None, Some("80%"), Measure::LowerEnd);
        let told = out_of_reach(&lower, 3, 10).unwrap();
        assert!(told.contains("testCase") && told.contains("72.2%"), "{told}");
        assert_eq!(out_of_reach(&lower, 3, 20), None);
        let rate = thresholds(Some("80%"), Some("80%"), Measure::Rate);
        assert!(out_of_reach(&rate, 3, 3).unwrap().contains("under 5 iterations"));
        assert_eq!(out_of_reach(&rate, 3, 5), None);
        assert_eq!(out_of_reach(&thresholds(Some("1"), None, Measure::Rate), 2, 3), None);
    }
}
