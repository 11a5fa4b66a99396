//! Reads how an endpoint says no.

use std::time::{Duration, SystemTime};

use http::HeaderMap;
use http::header::RETRY_AFTER;
use mcproctor_proto::traffic::{ModelRefusal, RefusalKind};
use serde_json::Value;

/// A refusal, and what is to be done about it.
pub(super) struct Refusal {
    pub(super) status: u16,
    /// The endpoint's words.
    pub(super) message: String,
    /// The field of the request that it names.
    pub(super) parameter: Option<String>,
    /// Whether another try may help.
    pub(super) may_pass: bool,
    /// The pause that it asks for.
    pub(super) wait: Option<Duration>,
}

/// Reads a response that is no success.
pub(super) fn read(status: u16, headers: &HeaderMap, body: &[u8], now: SystemTime) -> Refusal {
    let value: Value = serde_json::from_slice(body).unwrap_or_default();
    let text = |pointer: &str| value.pointer(pointer).and_then(Value::as_str).map(str::to_owned);
    // OpenAI nests it; Ollama and others say `{"error": "…"}`, and proxies speak HTML.
    let message = text("/error/message")
        .or_else(|| text("/error"))
        .or_else(|| text("/message"))
        .or_else(|| text("/detail"))
        .unwrap_or_else(|| String::from_utf8_lossy(body).trim().to_owned());
    let message = if message.is_empty() {
        "no reason given".to_owned()
    } else {
        message
    };
    let refusal = ModelRefusal {
        status,
        code: text("/error/code").or_else(|| text("/error/type")),
        message,
        retry_after_ms: None,
    };
    Refusal {
        status,
        may_pass: refusal.kind() == RefusalKind::Transient,
        parameter: text("/error/param"),
        message: refusal.message,
        wait: retry_after(headers, now),
    }
}

/// `retry-after-ms` is OpenAI's; `Retry-After` is seconds or a date (RFC 9110, section 10.2.3).
fn retry_after(headers: &HeaderMap, now: SystemTime) -> Option<Duration> {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok()).map(str::trim);
    let seconds = |text: &str| {
        text.parse::<f64>()
            .ok()
            .and_then(|it| Duration::try_from_secs_f64(it).ok())
    };
    if let Some(exact) = text("retry-after-ms").and_then(seconds) {
        return Some(exact / 1_000);
    }
    let value = text(RETRY_AFTER.as_str())?;
    seconds(value).or_else(|| {
        let until = httpdate::parse_http_date(value).ok()?;
        Some(until.duration_since(now).unwrap_or(Duration::ZERO))
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    fn read_body(status: u16, body: &str) -> Refusal {
        read(status, &HeaderMap::new(), body.as_bytes(), SystemTime::UNIX_EPOCH)
    }

    #[test]
    fn the_words_of_every_kind_of_endpoint_are_found() {
        for (body, message) in [
            (r#"{"error":{"message":"no","type":"x"}}"#, "no"),
            (r#"{"error":"model 'q' not found"}"#, "model 'q' not found"),
            (r#"{"message":"no"}"#, "no"),
            (r#"{"detail":"no"}"#, "no"),
            ("<html>bad gateway</html>", "<html>bad gateway</html>"),
            ("", "no reason given"),
        ] {
            assert_eq!(read_body(502, body).message, message);
        }
        let named = read_body(400, r#"{"error":{"message":"Unsupported","param":"temperature"}}"#);
        assert_eq!(
            (named.parameter.as_deref(), named.may_pass),
            (Some("temperature"), false)
        );
    }

    #[test]
    fn what_may_pass_is_told_from_what_will_not() {
        for (status, body, may_pass) in [
            (429, "", true),
            (503, "", true),
            (500, "", true),
            (
                429,
                r#"{"error":{"code":"insufficient_quota","message":"You exceeded your current quota"}}"#,
                false,
            ),
            (401, "", false),
            (404, r#"{"error":"model not found"}"#, false),
            (400, r#"{"error":{"message":"too long"}}"#, false),
        ] {
            assert_eq!(read_body(status, body).may_pass, may_pass, "{status} {body}");
        }
    }

    #[test]
    fn the_pause_that_is_asked_for_is_understood_in_every_form() {
        let now = httpdate::parse_http_date("Wed, 21 Oct 2026 07:28:00 GMT").unwrap();
        let wait = |name: &'static str, value: &str| {
            let mut headers = HeaderMap::new();
            headers.insert(name, value.parse().unwrap());
            retry_after(&headers, now)
        };
        assert_eq!(wait("retry-after", "17"), Some(Duration::from_secs(17)));
        assert_eq!(wait("retry-after", "0.5"), Some(Duration::from_millis(500)));
        assert_eq!(
            wait("retry-after", "Wed, 21 Oct 2026 07:28:30 GMT"),
            Some(Duration::from_secs(30))
        );
        assert_eq!(
            wait("retry-after", "Wed, 21 Oct 2026 07:20:00 GMT"),
            Some(Duration::ZERO)
        );
        assert_eq!(wait("retry-after-ms", "1250"), Some(Duration::from_millis(1_250)));
        for wrong in ["soon", "-3", "NaN", "1e400"] {
            assert_eq!(wait("retry-after", wrong), None, "{wrong}");
        }
    }
}
