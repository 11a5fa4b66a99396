//! Figures as people read them.

use crate::stats::compare::DifferenceRange;
use crate::stats::{Count, Interval, Spread};

/// A share as a whole percentage; `100%` and `0%` are only said when nothing is missing.
pub(super) fn percent(share: f64) -> String {
    let percent = share * 100.0;
    if percent > 99.0 && percent < 100.0 {
        ">99%".to_owned()
    } else if percent > 0.0 && percent < 1.0 {
        "<1%".to_owned()
    } else {
        format!("{}%", percent.round())
    }
}

/// A range of a share: `71–93%`. Rounding never shuts it: no number of iterations proves 100%, or 0%.
pub(super) fn percent_range(range: Interval) -> String {
    let low = (range.low * 100.0).round().min(99.0);
    let high = (range.high * 100.0).round().max(1.0);
    format!("{low}–{high}%")
}

/// A difference in points with its sign: `+12.5`.
pub(super) fn points(difference: f64) -> String {
    let tenths = (difference * 1000.0).round() / 10.0;
    if tenths == 0.0 {
        "0.0".to_owned()
    } else {
        format!("{}{:.1}", if tenths < 0.0 { '−' } else { '+' }, tenths.abs())
    }
}

/// The range of a difference: `+3.1 to +21.4`.
pub(super) fn points_range(range: Interval) -> String {
    format!("{} to {}", points(range.low), points(range.high))
}

/// A difference with its range: `+12.5 points (+3.1 to +21.4)`.
pub(super) fn difference(difference: DifferenceRange) -> String {
    format!(
        "{} points ({})",
        points(difference.estimate),
        points_range(difference.range)
    )
}

/// A p-value: `p .026`, `p <.001`.
pub(super) fn p_value(p: f64) -> String {
    if p < 0.001 {
        "p <.001".to_owned()
    } else if p > 0.999 {
        "p 1".to_owned()
    } else {
        // A p above the limit is never rounded down to it.
        let text = (3..=8)
            .map(|digits| format!("{p:.digits$}"))
            .find(|text| {
                text.parse::<f64>()
                    .is_ok_and(|rounded| (rounded <= 0.05) == (p <= 0.05))
            })
            .unwrap_or_else(|| p.to_string());
        format!("p {}", text.trim_start_matches('0'))
    }
}

/// `34/40`.
pub(super) fn fraction(count: u64, n: u64) -> String {
    format!("{count}/{n}")
}

/// A duration: `340 ms`, `12.3 s`, `2 min 05 s`.
pub(super) fn duration(ms: f64) -> String {
    if ms < 999.5 {
        format!("{} ms", ms.round())
    } else if ms < 59_950.0 {
        format!("{:.1} s", ms / 1000.0)
    } else {
        let whole = (ms / 1000.0).round();
        format!("{} min {:02} s", (whole / 60.0).floor(), whole % 60.0)
    }
}

/// A count: `812`, `12.4k`, `3.1M`.
pub(super) fn count(value: f64) -> String {
    if value < 9_999.5 {
        format!("{}", value.round())
    } else if value < 999_950.0 {
        format!("{:.1}k", value / 1e3)
    } else {
        format!("{:.1}M", value / 1e6)
    }
}

/// US dollars: `$12.34`, `$0.0123`.
pub(super) fn dollars(value: f64) -> String {
    if value == 0.0 || value >= 0.995 {
        format!("${value:.2}")
    } else {
        format!("${value:.4}")
    }
}

/// Median and p95 with N: `1.2 s, p95 3.4 s (N 10)`; `not known` for an empty sample.
pub(super) fn median_and_tail(spread: Spread, unit: fn(f64) -> String) -> String {
    match (spread.median, spread.p95) {
        (Some(median), Some(p95)) => format!("{}, p95 {} (N {})", unit(median), unit(p95), spread.n),
        _ => "not known".to_owned(),
    }
}

/// `2 of 40 invalid`, `none invalid`.
pub(super) fn invalid(valid: Count) -> String {
    match valid.failed() {
        0 => "none invalid".to_owned(),
        invalid => format!("{invalid} of {} invalid", valid.total()),
    }
}

/// `1 test case`, `2 test cases`.
pub(super) fn counted(n: u64, one: &str) -> String {
    format!("{n} {one}{}", if n == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_p_is_never_rounded_across_the_limit() {
        let shown = [0.025_547, 0.0496, 0.05, 0.0504, 0.050_04, 0.0001, 1.0, 0.77].map(p_value);
        let expected = [
            "p .026", "p .050", "p .050", "p .0504", "p .05004", "p <.001", "p 1", "p .770",
        ];
        assert_eq!(shown, expected);
    }

    #[test]
    fn differences_have_a_sign_and_nothing_has_none() {
        assert_eq!(
            [0.125, -0.125, 0.0, -0.0001].map(points),
            ["+12.5", "−12.5", "0.0", "0.0"]
        );
    }
}
