//! Figures in words: durations, rates and their ranges.

use super::model::View;
use crate::outcome::InvalidCause;
use crate::stats::{SMALLEST_N_WITH_A_RATE, wilson};
use crate::words::{counted, percent_range};

/// A duration as a clock shows it: `0:42`, `12:03`, `1:02:03`.
pub(super) fn clock(ms: i64) -> String {
    let seconds = ms.max(0) / 1000;
    let (hours, minutes, seconds) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    if hours > 0 {
        format!("{hours}:{minutes:02}:{seconds:02}")
    } else {
        format!("{minutes}:{seconds:02}")
    }
}

/// A short duration: `0.3s`, `42.0s`, `12:03`.
pub(super) fn short(ms: u64) -> String {
    if ms < 60_000 {
        format!("{}.{}s", ms / 1000, ms % 1000 / 100)
    } else {
        clock(i64::try_from(ms).unwrap_or(i64::MAX))
    }
}

/// An estimate, no more exact than it can be: `under a minute`, `about 4 min`, `about 2 h 10 min`.
pub(super) fn about(ms: i64) -> String {
    let minutes = (ms.max(0) + 30_000) / 60_000;
    match minutes {
        0 => "under a minute".to_owned(),
        1..60 => format!("about {minutes} min"),
        _ => match (minutes / 60, minutes % 60 / 10 * 10) {
            (hours, 0) => format!("about {hours} h"),
            (hours, rest) => format!("about {hours} h {rest} min"),
        },
    }
}

/// A rate in percent. It says 0 or 100 only when that is exact.
fn percent(passed: u64, n: u64) -> u64 {
    let rounded = (passed * 200 + n).checked_div(2 * n).unwrap_or(0);
    if passed == 0 || passed == n {
        rounded
    } else {
        rounded.clamp(1, 99)
    }
}

/// The 95% range of a rate, without brackets: `61–100%`; `None` when nothing is decided.
fn range(passed: u64, n: u64) -> Option<String> {
    wilson(passed, n).map(percent_range)
}

/// `100% pass [61–100%, N=6]`; with an N below 5 only `[34–100%, N=2]`; `None` when nothing is decided.
pub(super) fn rate(passed: u64, n: u64) -> Option<String> {
    let range = range(passed, n)?;
    Some(if n < SMALLEST_N_WITH_A_RATE {
        format!("[{range}, N={n}]")
    } else {
        format!("{}% pass [{range}, N={n}]", percent(passed, n))
    })
}

/// The same while a run goes on: `83% pass [61–94%, N=18; not for stopping]`. A range for a fixed N misses the truth more often than
/// it says for whoever stops as soon as it looks good.
pub(super) fn live_rate(passed: u64, n: u64) -> Option<String> {
    let rate = rate(passed, n)?;
    Some(format!(
        "{}; not for stopping]",
        rate.strip_suffix(']').unwrap_or(&rate)
    ))
}

/// `96% [94–97%]` for places where the counts stand beside it; `None` with an N below 5.
pub(super) fn short_rate(passed: u64, n: u64) -> Option<String> {
    if n < SMALLEST_N_WITH_A_RATE {
        return None;
    }
    Some(format!("{}% [{}]", percent(passed, n), range(passed, n)?))
}

/// `server 2, model 1`.
pub(super) fn causes(counts: &[(InvalidCause, u64)]) -> String {
    let parts: Vec<String> = counts
        .iter()
        .map(|(cause, count)| format!("{} {count}", cause.name()))
        .collect();
    parts.join(", ")
}

/// `2 invalid (server 2)`; `None` when there are none.
pub(super) fn invalid(view: &View) -> Option<String> {
    let counts = view.invalid_by_cause();
    (!counts.is_empty()).then(|| format!("{} invalid ({})", view.totals().invalid, causes(&counts)))
}

/// `3 attempts repeated (model 3)`; `None` when there are none.
pub(super) fn repeated(view: &View) -> Option<String> {
    let counts = view.repeated_by_cause();
    let sum: u64 = counts.iter().map(|(_, count)| count).sum();
    (!counts.is_empty()).then(|| format!("{} repeated ({})", counted(sum, "attempt"), causes(&counts)))
}

/// A file's path as an address that terminals make clickable.
pub(super) fn file_url(path: &str) -> String {
    url::Url::from_file_path(path).map_or_else(|()| super::text::clean(path), String::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_read_like_a_clock() {
        assert_eq!(clock(42_900), "0:42");
        assert_eq!(clock(3_723_000), "1:02:03");
        assert_eq!(clock(-5), "0:00");
        assert_eq!(short(350), "0.3s");
        assert_eq!(short(61_000), "1:01");
    }

    #[test]
    fn an_estimate_is_no_more_exact_than_it_can_be() {
        assert_eq!(about(20_000), "under a minute");
        assert_eq!(about(250_000), "about 4 min");
        assert_eq!(about(7_890_000), "about 2 h 10 min");
        assert_eq!(about(3_600_000), "about 1 h");
    }

    #[test]
    fn no_percentage_below_five() {
        assert_eq!(rate(0, 0), None);
        assert_eq!(rate(2, 2).as_deref(), Some("[34–100%, N=2]"));
        assert_eq!(rate(4, 4).as_deref(), Some("[51–100%, N=4]"));
        assert_eq!(rate(6, 6).as_deref(), Some("100% pass [61–100%, N=6]"));
        assert_eq!(short_rate(4, 4), None);
        assert_eq!(short_rate(480, 500).as_deref(), Some("96% [94–97%]"));
    }

    #[test]
    fn all_and_nothing_are_said_only_when_exact() {
        assert!(rate(1, 5000).is_some_and(|text| text.starts_with("1% pass")));
        assert_eq!(rate(4999, 5000).as_deref(), Some("99% pass [99–100%, N=5000]"));
        assert_eq!(rate(0, 5000).as_deref(), Some("0% pass [0–1%, N=5000]"));
    }

    #[test]
    fn a_path_with_spaces_becomes_one_address() {
        assert_eq!(file_url("/tmp/my reports/r.html"), "file:///tmp/my%20reports/r.html");
        assert_eq!(file_url("not/absolute"), "not/absolute");
    }
}
