//! Durations, tokens and cost of both sides.

use serde::Serialize;

use crate::stats::{Spread, spread};

use super::pairing::Common;
use super::results::Cell;

/// A quantity of both sides, over the iterations of the test cases compared that passed or failed.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SpreadRow {
    /// `durationMs`, `tokens` or `costUsd`.
    pub what: &'static str,
    /// A and B.
    pub sides: [Spread; 2],
}

pub(super) fn spread_rows(common: &[Common<'_>]) -> Vec<SpreadRow> {
    let row = |what, pick: fn(&Cell) -> &Vec<f32>| SpreadRow {
        what,
        sides: [
            spread(
                common
                    .iter()
                    .flat_map(|case| pick(case.a))
                    .map(|value| f64::from(*value)),
            ),
            spread(
                common
                    .iter()
                    .flat_map(|case| pick(case.b))
                    .map(|value| f64::from(*value)),
            ),
        ],
    };
    [
        row("durationMs", |cell| &cell.durations_ms),
        row("tokens", |cell| &cell.tokens),
        row("costUsd", |cell| &cell.costs_usd),
    ]
    .into_iter()
    .filter(|row| row.sides.iter().any(|side| side.n > 0))
    .collect()
}
