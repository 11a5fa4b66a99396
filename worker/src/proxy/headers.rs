//! Which headers change on their way.

use http::header::{CONNECTION, HOST, HeaderName, HeaderValue, WWW_AUTHENTICATE};
use http::{HeaderMap, StatusCode};
use mcproctor_proto::redact::Redactor;
use mcproctor_proto::server::Header;
use secrecy::ExposeSecret;

use super::error::ProxyError;
use crate::hop_by_hop::{is_hop_by_hop, strip_hop_by_hop};

/// Headers that the proxy adds to every request.
#[derive(Debug, Default)]
pub(super) struct Injected(Vec<(HeaderName, HeaderValue)>);

impl Injected {
    /// Checks the configured headers.
    ///
    /// # Errors
    /// A name or value is not valid in HTTP, or the name belongs to the connection.
    pub(super) fn new(headers: &[Header]) -> Result<Self, ProxyError> {
        let one = |header: &Header| {
            let refused = |why| ProxyError::Header {
                name: header.name.clone(),
                why,
            };
            let name = HeaderName::from_bytes(header.name.as_bytes()).map_err(|_| refused("the name is not valid"))?;
            if is_hop_by_hop(&name) || name == http::header::CONTENT_LENGTH {
                return Err(refused("it belongs to the connection"));
            }
            let mut value = HeaderValue::from_bytes(header.value.expose_secret().as_bytes())
                .map_err(|_| refused("the value is not valid"))?;
            value.set_sensitive(true);
            Ok((name, value))
        };
        headers.iter().map(one).collect::<Result<_, _>>().map(Self)
    }
}

/// Turns the agent's headers into those of the request to the server.
pub(super) fn outbound(headers: &mut HeaderMap, host: &HeaderValue, injected: &Injected) {
    strip_hop_by_hop(headers);
    headers.insert(HOST, host.clone());
    for (name, value) in &injected.0 {
        headers.insert(name.clone(), value.clone());
    }
}

/// What an answer's headers said that the proxy acts on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Seen {
    /// The server closes this connection after the answer.
    pub(super) closes: bool,
    /// The server asks for a login.
    pub(super) challenged: bool,
}

/// Turns the server's headers into those that the agent gets: no challenge, nothing that was injected.
pub(super) fn inbound(status: StatusCode, headers: &mut HeaderMap, injected: &Injected, redactor: &Redactor) -> Seen {
    let closes = headers.get_all(CONNECTION).iter().any(|value| {
        value
            .to_str()
            .is_ok_and(|value| value.split(',').any(|one| one.trim().eq_ignore_ascii_case("close")))
    });
    strip_hop_by_hop(headers);
    headers.remove(WWW_AUTHENTICATE);
    if !injected.0.is_empty() {
        let echoed: Vec<HeaderName> = headers
            .iter()
            .filter(|(_, value)| redactor.finds(value.as_bytes()))
            .map(|(name, _)| name.clone())
            .collect();
        for name in echoed {
            headers.remove(name);
        }
    }
    Seen {
        closes,
        challenged: status == StatusCode::UNAUTHORIZED,
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use mcproctor_proto::redact::Named;

    fn map(pairs: &[(&'static str, &str)]) -> HeaderMap {
        let mut map = HeaderMap::new();
        for (name, value) in pairs {
            map.append(HeaderName::from_static(name), value.parse().unwrap());
        }
        map
    }

    fn injected() -> (Injected, Redactor) {
        let header = Header {
            name: "Authorization".to_owned(),
            value: "Bearer sentinel".to_owned().into(),
        };
        let redactor = Redactor::new([Named::header("Authorization", "Bearer sentinel")].into_iter());
        (Injected::new(&[header]).unwrap(), redactor)
    }

    #[test]
    fn only_hop_by_hop_headers_and_those_that_connection_names_are_stripped() {
        let mut headers = map(&[
            ("connection", "keep-alive, X-Once"),
            ("connection", "x-twice"),
            ("x-once", "1"),
            ("x-twice", "2"),
            ("keep-alive", "timeout=5"),
            ("te", "trailers"),
            ("accept-encoding", "gzip, br"),
            ("mcp-param-x", "=?base64?eA==?="),
            ("authorization", "of the agent"),
            ("authorization", "of the agent too"),
            ("host", "127.0.0.1:1"),
        ]);
        outbound(&mut headers, &HeaderValue::from_static("example.com"), &injected().0);
        let mut left: Vec<_> = headers
            .iter()
            .map(|(name, value)| (name.as_str(), value.to_str().unwrap()))
            .collect();
        left.sort_unstable();
        assert_eq!(
            left,
            [
                ("accept-encoding", "gzip, br"),
                ("authorization", "Bearer sentinel"),
                ("host", "example.com"),
                ("mcp-param-x", "=?base64?eA==?="),
            ]
        );
    }

    #[test]
    fn the_agent_sees_neither_challenges_nor_injected_values() {
        let (injected, redactor) = injected();
        let mut headers = map(&[
            ("www-authenticate", "Bearer resource_metadata=\"https://example.com\""),
            ("x-echo", "you sent Bearer sentinel"),
            ("x-other", "kept"),
            ("connection", "Close"),
        ]);
        let seen = inbound(StatusCode::UNAUTHORIZED, &mut headers, &injected, &redactor);
        assert_eq!(
            seen,
            Seen {
                closes: true,
                challenged: true
            }
        );
        assert_eq!(headers.keys().map(HeaderName::as_str).collect::<Vec<_>>(), ["x-other"]);
    }

    #[test]
    fn headers_that_cannot_be_injected_are_refused_without_their_value() {
        for (name, value) in [("bad name", "s3cret"), ("x-ok", "s3cret\n"), ("Connection", "s3cret")] {
            let header = Header {
                name: name.to_owned(),
                value: value.to_owned().into(),
            };
            let error = Injected::new(&[header]).unwrap_err().to_string();
            assert!(error.contains(name) && !error.contains("s3cret"), "{error}");
        }
    }
}
