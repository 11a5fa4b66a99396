//! How reliable an agent is over all its test cases: the bridge to the statistics.

use crate::stats::suite::{distinct, like_these, pooled, these_prompts};
use crate::stats::{Count, Interval, NotEstimable, PassHatK, Rate, RepeatsAlike, bounds_with_invalid, pass_hat_k};

use super::{Cell, Tally};
use crate::words::percent_range;

/// What is said of an agent's test cases together.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Suite {
    /// How reliably exactly these test cases are done, every test case with the same weight.
    pub(super) these: Estimate,
    /// The same, all iterations as one count.
    pub(super) pooled: Estimate,
    /// What may be expected of prompts that were not tried.
    pub(super) like: Estimate,
    /// Test cases that passed every time, out of those with an iteration that counts.
    pub(super) distinct: Estimate,
    /// The chance that several iterations in a row pass, for several lengths; or why it cannot be told.
    pub(super) in_a_row: Result<Vec<PassHatK>, NotEstimable>,
    /// Pairs of iterations of one test case, and those that made the same calls.
    pub(super) repeats: RepeatsAlike,
}

/// The lengths of which the chance to pass in a row is told, as far as every test case has so many iterations.
const IN_A_ROW: [u64; 4] = [2, 4, 8, 16];

/// A rate with the method behind its range.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Estimate {
    /// Counts, rate and range; a range is absent where none can be given.
    pub(super) rate: Rate,
    /// How rate and range were found, or why there are none, in few words.
    pub(super) method: String,
}

/// Of the cells of one agent.
pub(super) fn suite(cells: &[Cell]) -> Suite {
    let counts: Vec<Count> = cells.iter().map(|cell| count(&cell.group.tally)).collect();
    let all = pooled(&counts);
    let none = Rate {
        rate: None,
        range: None,
        ..all
    };
    let these = these_prompts(&counts);
    let like = like_these(&counts);
    Suite {
        these: Estimate {
            rate: these.map_or(none, |suite| Rate {
                rate: suite.rate,
                range: Some(suite.range),
                ..all
            }),
            method: "stratified Wilson".to_owned(),
        },
        pooled: Estimate {
            rate: all,
            method: "pooled, Wilson".to_owned(),
        },
        like: match like {
            Ok(like) => Estimate {
                rate: Rate {
                    rate: Some(like.rate),
                    range: Some(like.range),
                    ..all
                },
                method: format!(
                    "{} test cases, Wilson on effective N {:.1}",
                    like.cases, like.effective_n
                ),
            },
            Err(too_few) => Estimate {
                rate: none,
                method: too_few.to_string(),
            },
        },
        distinct: Estimate {
            rate: distinct(&counts),
            method: "test cases, Wilson".to_owned(),
        },
        in_a_row: in_a_row(&counts),
        repeats: cells
            .iter()
            .fold(RepeatsAlike::default(), |sum, cell| sum + cell.repeats()),
    }
}

fn in_a_row(counts: &[Count]) -> Result<Vec<PassHatK>, NotEstimable> {
    let shortest = pass_hat_k(counts, IN_A_ROW[0])?;
    let longer = IN_A_ROW.iter().skip(1).map_while(|k| pass_hat_k(counts, *k).ok());
    Ok(std::iter::once(shortest).chain(longer).collect())
}

/// What the range would be, whatever the invalid ones would have come to; `None` when there are none.
pub(super) fn with_invalid(tally: &Tally) -> Option<Interval> {
    let invalid = tally.invalid();
    bounds_with_invalid(count(tally), invalid).filter(|_| invalid > 0)
}

/// The same in words: `with them 60–97%`.
pub(super) fn with_invalid_words(tally: &Tally) -> Option<String> {
    with_invalid(tally).map(|range| format!("with them {}", percent_range(range)))
}

fn count(tally: &Tally) -> Count {
    Count::of(tally.passed, tally.passed + tally.failed())
}
