//! Headers that are meant for one connection only (RFC 9110, section 7.6.1). Pure.

use http::HeaderMap;
use http::header::{
    CONNECTION, CONTENT_LENGTH, HOST, HeaderName, PROXY_AUTHENTICATE, PROXY_AUTHORIZATION, TE, TRANSFER_ENCODING,
    UPGRADE,
};

/// Those that belong to one connection whatever `Connection` says.
const STANDARD: [HeaderName; 6] = [
    CONNECTION,
    PROXY_AUTHENTICATE,
    PROXY_AUTHORIZATION,
    TE,
    TRANSFER_ENCODING,
    UPGRADE,
];
/// Further ones that have no constants.
const OLDER: [&str; 2] = ["keep-alive", "proxy-connection"];

/// Whether a header of this name belongs to one connection only.
pub(crate) fn is_hop_by_hop(name: &HeaderName) -> bool {
    STANDARD.contains(name) || OLDER.contains(&name.as_str())
}

/// Removes the headers that belong to one connection only, and those that `Connection` names.
pub(crate) fn strip_hop_by_hop(headers: &mut HeaderMap) {
    let named: Vec<HeaderName> = headers
        .get_all(CONNECTION)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .filter_map(|name| name.trim().parse().ok())
        // Where a body ends and whom a request is for is not the sender's to take away.
        .filter(|name| *name != CONTENT_LENGTH && *name != HOST)
        .collect();
    for name in named.iter().chain(&STANDARD) {
        headers.remove(name);
    }
    for name in OLDER {
        headers.remove(name);
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn what_connection_names_goes_but_not_what_frames_the_message() {
        let mut headers = HeaderMap::new();
        for (name, value) in [
            ("connection", "close, X-Once, content-length, Host"),
            ("connection", "x-twice"),
            ("x-once", "1"),
            ("x-twice", "2"),
            ("content-length", "3"),
            ("host", "example.com"),
            ("keep-alive", "timeout=5"),
            ("proxy-connection", "close"),
            ("transfer-encoding", "chunked"),
            ("trailer", "x-sum"),
        ] {
            headers.append(name, value.parse().unwrap());
        }
        strip_hop_by_hop(&mut headers);
        let mut left: Vec<_> = headers.keys().map(HeaderName::as_str).collect();
        left.sort_unstable();
        assert_eq!(left, ["content-length", "host", "trailer"]);
    }
}
