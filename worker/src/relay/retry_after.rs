//! How long the model API asks to wait.

use std::time::{Duration, SystemTime};

use http::HeaderMap;
use http::header::RETRY_AFTER;

/// The wait that a response asks for, in milliseconds.
///
/// `retry-after-ms` is OpenAI's; `Retry-After` is seconds or a date (RFC 9110, section 10.2.3).
pub(super) fn retry_after_ms(headers: &HeaderMap, now: SystemTime) -> Option<u64> {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok()).map(str::trim);
    let milliseconds = |seconds: f64| (seconds.is_finite() && seconds >= 0.0).then_some((seconds * 1000.0) as u64);
    if let Some(exact) = text("retry-after-ms").and_then(|value| value.parse::<f64>().ok()) {
        return milliseconds(exact / 1000.0);
    }
    let value = text(RETRY_AFTER.as_str())?;
    if let Ok(seconds) = value.parse::<f64>() {
        return milliseconds(seconds);
    }
    let until = httpdate::parse_http_date(value).ok()?;
    let wait = until.duration_since(now).unwrap_or(Duration::ZERO);
    u64::try_from(wait.as_millis()).ok()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn seconds_dates_and_milliseconds_are_understood() {
        let now = httpdate::parse_http_date("Wed, 21 Oct 2026 07:28:00 GMT").unwrap();
        let wait = |name: &'static str, value: &str| {
            let mut headers = HeaderMap::new();
            headers.insert(name, value.parse().unwrap());
            retry_after_ms(&headers, now)
        };
        assert_eq!(wait("retry-after", "17"), Some(17_000));
        assert_eq!(wait("retry-after", "0.5"), Some(500));
        assert_eq!(wait("retry-after", "Wed, 21 Oct 2026 07:28:30 GMT"), Some(30_000));
        assert_eq!(wait("retry-after", "Wed, 21 Oct 2026 07:20:00 GMT"), Some(0));
        assert_eq!(wait("retry-after-ms", "1250"), Some(1_250));
        assert_eq!(wait("retry-after", "soon"), None);
        assert_eq!(wait("retry-after", "-3"), None);
        assert_eq!(wait("x-other", "3"), None);
    }
}
