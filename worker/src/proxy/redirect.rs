//! What becomes of a redirect.

use http::uri::PathAndQuery;
use http::{HeaderMap, StatusCode, header::LOCATION};
use url::Url;

use super::target::Target;

/// Redirects that are followed for one request.
pub(super) const FOLLOW_CAP: u32 = 5;

/// What to do with a redirect.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Redirect {
    /// No redirect, or one without a usable target: it passes unchanged.
    Pass,
    /// Ask there again, with the same method and body.
    Follow(PathAndQuery),
    /// The client has to ask again itself, with a method of its choice: `Location` leads it to the proxy.
    Hand(PathAndQuery),
    /// It leads to another origin, where nothing of ours may go.
    Refuse(String),
}

/// Decides by status and `Location` (RFC 9110, section 15.4).
pub(super) fn decide(target: &Target, asked: &PathAndQuery, status: StatusCode, headers: &HeaderMap) -> Redirect {
    let same_method = matches!(status.as_u16(), 307 | 308);
    if !same_method && !matches!(status.as_u16(), 301..=303) {
        return Redirect::Pass;
    }
    let location = headers
        .get(LOCATION)
        .and_then(|value| std::str::from_utf8(value.as_bytes()).ok());
    let Some(url) = location
        .zip(target.absolute(asked))
        .and_then(|(to, from)| from.join(to).ok())
    else {
        return Redirect::Pass;
    };
    if !target.same_origin(&url) {
        return Redirect::Refuse(origin_of(&url));
    }
    match relative(&url) {
        Some(there) if same_method => Redirect::Follow(there),
        Some(there) => Redirect::Hand(there),
        None => Redirect::Pass,
    }
}

/// Path and query of a URL.
pub(super) fn relative(url: &Url) -> Option<PathAndQuery> {
    match url.query() {
        Some(query) => format!("{}?{query}", url.path()).parse().ok(),
        None => url.path().parse().ok(),
    }
}

/// Scheme, host and port of a URL: all of it that may be shown.
pub(super) fn origin_of(url: &Url) -> String {
    url.origin().ascii_serialization()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    fn decide_for(status: u16, location: &str) -> Redirect {
        let target = Target::parse("https://example.com/mcp").unwrap();
        let headers = HeaderMap::from_iter([(LOCATION, location.parse().unwrap())]);
        decide(
            &target,
            &"/mcp".parse().unwrap(),
            StatusCode::from_u16(status).unwrap(),
            &headers,
        )
    }

    #[test]
    fn only_redirects_inside_the_origin_are_followed() {
        for (location, there) in [
            ("/mcp/", "/mcp/"),
            ("https://example.com/v2?a=b", "/v2?a=b"),
            ("https://EXAMPLE.com:443/v2#x", "/v2"),
            ("sub", "/sub"),
        ] {
            for status in [307, 308] {
                assert_eq!(
                    decide_for(status, location),
                    Redirect::Follow(there.parse().unwrap()),
                    "{location}"
                );
            }
            assert_eq!(
                decide_for(302, location),
                Redirect::Hand(there.parse().unwrap()),
                "{location}"
            );
        }
        for location in [
            "http://example.com/mcp",
            "https://example.com:8443/mcp",
            "//evil.example/mcp",
        ] {
            assert!(matches!(decide_for(307, location), Redirect::Refuse(_)), "{location}");
            assert!(matches!(decide_for(301, location), Redirect::Refuse(_)), "{location}");
        }
        assert_eq!(decide_for(304, "/x"), Redirect::Pass);
    }
}
