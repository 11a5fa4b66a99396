//! Points in time as text.

use jiff::Timestamp;

/// RFC 3339 in UTC with seconds, `2026-11-30T06:54:57Z`; empty for a time beyond the calendar.
pub(super) fn rfc3339(unix_ms: i64) -> String {
    Timestamp::from_millisecond(unix_ms)
        .map_or_else(|_| String::new(), |at| at.strftime("%Y-%m-%dT%H:%M:%SZ").to_string())
}

/// For people: `2026-11-30 06:54 UTC`; empty for a time beyond the calendar.
pub(super) fn readable(unix_ms: i64) -> String {
    Timestamp::from_millisecond(unix_ms)
        .map_or_else(|_| String::new(), |at| at.strftime("%Y-%m-%d %H:%M UTC").to_string())
}
