//! A rate with its N and range, as text and as a bar.

use crate::report::Tally;
use crate::stats::Rate;

use crate::words::{percent, percent_range};

/// A rate as the page shows it.
pub(in crate::report) struct RateView {
    /// `34 of 40`.
    pub(in crate::report) counts: String,
    /// `85%`; absent when N is too small for a rate.
    pub(in crate::report) rate: Option<String>,
    /// `71–93%`; absent when N is 0.
    pub(in crate::report) range: Option<String>,
    /// The range on a scale of 0 to 100.
    pub(in crate::report) bar: Option<Bar>,
    /// One sentence with all of it.
    pub(in crate::report) sentence: String,
}

/// A range on a scale of 0 to 100.
pub(in crate::report) struct Bar {
    /// The lower end.
    pub(in crate::report) low: String,
    /// Upper less lower end.
    pub(in crate::report) width: String,
    /// The rate.
    pub(in crate::report) at: Option<String>,
}

impl RateView {
    pub(in crate::report) fn of(rate: Rate) -> Self {
        let counts = format!("{} of {}", rate.count, rate.n);
        let (share, range) = (rate.rate.map(percent), rate.range.map(percent_range));
        let sentence = match (&share, &range) {
            (Some(share), Some(range)) => format!("{counts}, {share}, 95% range {range}"),
            (None, Some(range)) => format!("{counts}, 95% range {range}; too few for a rate"),
            (_, None) => "no result that counts".to_owned(),
        };
        Self {
            counts,
            rate: share,
            range,
            bar: rate.range.map(|range| Bar {
                low: format!("{:.1}", range.low * 100.0),
                width: format!("{:.1}", (range.high - range.low) * 100.0),
                at: rate.rate.map(|rate| format!("{:.1}", rate * 100.0)),
            }),
            sentence,
        }
    }
}

/// Invalid ones by cause: `3 invalid: server 2, model 1`; `None` when there are none.
pub(in crate::report) fn invalid_by_cause(tally: &Tally) -> Option<String> {
    let causes: Vec<String> = tally
        .by_cause()
        .filter(|(_, count)| *count > 0)
        .map(|(cause, count)| format!("{} {count}", cause.name()))
        .collect();
    (!causes.is_empty()).then(|| format!("{} invalid: {}", tally.invalid(), causes.join(", ")))
}

/// Failed ones by class: `3 failed: expectation unmet 2, agent error 1`; `None` when there are none.
pub(in crate::report) fn failed_by_class(tally: &Tally) -> Option<String> {
    let classes: Vec<String> = tally
        .by_class()
        .filter(|(_, count)| *count > 0)
        .map(|(class, count)| format!("{} {count}", class.name().replace('_', " ")))
        .collect();
    (!classes.is_empty()).then(|| format!("{} failed: {}", tally.failed(), classes.join(", ")))
}
