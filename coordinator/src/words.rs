//! Figures as people read them.

use std::fmt::Display;

use crate::stats::{Interval, Spread};

/// A share as a whole percentage; `100%` and `0%` are only said when nothing is missing.
pub(crate) fn percent(share: f64) -> String {
    format!("{}%", whole_percent(share))
}

/// A range of a share: `71–93%`.
pub(crate) fn percent_range(range: Interval) -> String {
    // Rounding must not make a range shut that is not: no number of iterations proves 100%, or 0%.
    let low = (range.low * 100.0).round().min(99.0);
    let high = (range.high * 100.0).round().max(1.0);
    format!("{low}–{high}%")
}

fn whole_percent(share: f64) -> String {
    let percent = share * 100.0;
    if percent > 99.0 && percent < 100.0 {
        return ">99".to_owned();
    }
    if percent > 0.0 && percent < 1.0 {
        return "<1".to_owned();
    }
    format!("{}", percent.round())
}

/// A duration: `340 ms`, `12.3 s`, `2 min 05 s`, `3 h 07 min`.
pub(crate) fn duration(ms: f64) -> String {
    let seconds = ms / 1000.0;
    if ms < 999.5 {
        format!("{} ms", ms.round())
    } else if seconds < 59.95 {
        format!("{seconds:.1} s")
    } else if seconds < 3599.5 {
        let whole = seconds.round();
        format!("{} min {:02} s", (whole / 60.0).floor(), whole % 60.0)
    } else {
        let minutes = (seconds / 60.0).round();
        format!("{} h {:02} min", (minutes / 60.0).floor(), minutes % 60.0)
    }
}

/// A count: `812`, `12.4k`, `3.1M`.
pub(crate) fn count(value: f64) -> String {
    if value < 9_999.5 {
        format!("{}", value.round())
    } else if value < 999_950.0 {
        format!("{:.1}k", value / 1e3)
    } else {
        format!("{:.1}M", value / 1e6)
    }
}

/// US dollars: `$12.34`, `$0.0123`.
pub(crate) fn dollars(value: f64) -> String {
    if value == 0.0 || value >= 0.995 {
        format!("${value:.2}")
    } else {
        format!("${value:.4}")
    }
}

/// Median and p95 with N: `1.2 s, p95 3.4 s (N 10)`; `None` for an empty sample.
pub(crate) fn median_and_tail(spread: Spread, unit: fn(f64) -> String) -> Option<String> {
    Some(format!(
        "{}, p95 {} (N {})",
        unit(spread.median?),
        unit(spread.p95?),
        spread.n
    ))
}

/// `1 iteration`, `2 iterations`.
pub(crate) fn counted<N: Display + PartialEq + From<u8>>(n: N, one: &str) -> String {
    let plural = if n == N::from(1) { "" } else { "s" };
    format!("{n} {one}{plural}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::wilson;

    #[test]
    fn a_rate_is_never_rounded_to_everything_or_nothing() {
        assert_eq!(percent(0.999), ">99%");
        assert_eq!(percent(0.001), "<1%");
        assert_eq!(
            (percent(1.0), percent(0.0), percent(0.85)),
            ("100%".into(), "0%".into(), "85%".into())
        );
    }

    #[test]
    fn ranges_read_as_published() {
        assert_eq!(wilson(34, 40).map(percent_range).as_deref(), Some("71–93%"));
        assert_eq!(wilson(0, 2).map(percent_range).as_deref(), Some("0–66%"));
    }

    #[test]
    fn units_change_where_people_expect_it() {
        let all: Vec<String> = [0.4, 999.0, 999.6, 59_900.0, 59_960.0, 125_000.0, 3_599_600.0]
            .map(duration)
            .into();
        assert_eq!(
            all,
            [
                "0 ms",
                "999 ms",
                "1.0 s",
                "59.9 s",
                "1 min 00 s",
                "2 min 05 s",
                "1 h 00 min"
            ]
        );
        assert_eq!([812.0, 12_400.0, 3_100_000.0].map(count), ["812", "12.4k", "3.1M"]);
        assert_eq!([0.0, 0.01234, 12.344].map(dollars), ["$0.00", "$0.0123", "$12.34"]);
    }
}
