//! The model's refusals, as agents report them in words.

use mcproctor_proto::traffic::ModelRefusal;

use super::escape::shorten;

/// Characters kept of a refusal's message.
const SHOWN: usize = 500;

/// A refusal with a known status.
pub(super) fn refusal(status: u16, code: Option<&str>, message: &str) -> ModelRefusal {
    ModelRefusal {
        status,
        code: code.map(str::to_owned),
        message: shorten(message, SHOWN),
        retry_after_ms: None,
    }
}

/// The refusal that an error message of an agent tells of, if it does.
pub(super) fn in_words(message: &str) -> Option<ModelRefusal> {
    let lower = message.to_lowercase();
    let status = status_in(&lower).or_else(|| {
        let says = |phrases: &[&str]| phrases.iter().any(|phrase| lower.contains(phrase));
        if says(&[
            "rate limit",
            "usage limit",
            "hit your limit",
            "session limit",
            "weekly limit",
            "too many requests",
        ]) {
            Some(429)
        } else if says(&["at capacity", "overloaded"]) {
            Some(529)
        } else if says(&[
            "not logged in",
            "please run /login",
            "invalid api key",
            "authentication_failed",
        ]) {
            Some(401)
        } else if says(&["quota", "credit balance is too low"]) {
            Some(402)
        } else if says(&[
            "stream disconnected",
            "unable to connect to api",
            "error sending request",
        ]) {
            Some(0)
        } else {
            None
        }
    })?;
    Some(refusal(status, None, message))
}

/// The HTTP error status after `status` or `api error`: `unexpected status 401`, `last status: 429`, `API Error: 529`.
fn status_in(lower: &str) -> Option<u16> {
    ["status", "api error", "rejected"].iter().find_map(|word| {
        let after = &lower[lower.find(word)? + word.len()..];
        let after = after.trim_start_matches([' ', ':', '(']);
        let digits = after.find(|c: char| !c.is_ascii_digit()).unwrap_or(after.len());
        after[..digits]
            .parse()
            .ok()
            .filter(|status| (400..600).contains(status))
    })
}

#[cfg(test)]
mod tests {
    use super::in_words;

    #[test]
    fn the_words_of_real_agents() {
        for (message, status) in [
            ("API Error: Request rejected (429) · slow down", 429),
            (
                "unexpected status 401 Unauthorized: bad key, url: http://127.0.0.1:1/v1/responses",
                401,
            ),
            ("exceeded retry limit, last status: 429 Too Many Requests", 429),
            ("Selected model is at capacity. Please try a different model.", 529),
            ("stream disconnected before completion: error sending request", 0),
            ("API Error: Unable to connect to API (ECONNRESET)", 0),
            ("Claude AI usage limit reached|1760000400", 429),
            ("You've hit your session limit", 429),
            ("Not logged in · Please run /login", 401),
            ("API Error: 529 {\"type\":\"error\"}", 529),
        ] {
            assert_eq!(
                in_words(message).map(|refusal| refusal.status),
                Some(status),
                "{message}"
            );
        }
    }

    #[test]
    fn other_errors_are_no_refusals() {
        assert_eq!(
            in_words("The model's tool call could not be parsed (retry also failed)."),
            None
        );
        assert_eq!(in_words("No conversation found with session ID: 1"), None);
        assert_eq!(in_words("status 200 was expected"), None);
    }
}
