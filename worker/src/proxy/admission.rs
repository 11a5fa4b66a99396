//! What may pass the proxy at all.

use std::collections::HashSet;
use std::sync::{PoisonError, RwLock};

use http::header::{HOST, ORIGIN};
use http::uri::Authority;
use http::{HeaderMap, Uri};

/// What becomes of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Admission {
    /// It is forwarded.
    Forward,
    /// It did not come from this machine, or a web page of elsewhere sent it: 403.
    Forbidden,
    /// It asks for something that is not the MCP endpoint: 404.
    NotFound {
        /// Whether clients of MCP ask for it by themselves, whatever their agent is up to: how to log in.
        on_its_own: bool,
    },
}

/// Paths beside the MCP path that one announcement or another opened.
const ANNOUNCED_CAP: usize = 256;

/// The gate in front of one server.
#[derive(Debug)]
pub(super) struct Gate {
    path: String,
    announced: RwLock<HashSet<String>>,
}

impl Gate {
    /// Opens the MCP path alone.
    pub(super) fn new(path: &str) -> Self {
        Self {
            path: path.to_owned(),
            announced: RwLock::default(),
        }
    }

    /// Opens a path that the server announced; `false` when there are too many already.
    pub(super) fn open(&self, path: &str) -> bool {
        let mut announced = self.announced.write().unwrap_or_else(PoisonError::into_inner);
        (announced.len() < ANNOUNCED_CAP && announced.insert(path.to_owned())) || announced.contains(path)
    }

    /// Decides about a request.
    ///
    /// The server gets its own name as `Host`, so its check against DNS rebinding sees nothing; this one stands in for
    /// it (MCP specification, transports, security warning).
    pub(super) fn admit(&self, uri: &Uri, headers: &HeaderMap) -> Admission {
        let mut hosts = headers.get_all(HOST).iter();
        let host = match (uri.authority(), hosts.next()) {
            (Some(authority), _) => Some(authority.clone()),
            (None, Some(host)) => host.to_str().ok().and_then(|host| host.parse().ok()),
            (None, None) => None,
        };
        if hosts.next().is_some() || !host.as_ref().is_some_and(is_loopback) {
            return Admission::Forbidden;
        }
        if headers
            .get_all(ORIGIN)
            .iter()
            .any(|origin| !origin.to_str().is_ok_and(is_loopback_origin))
        {
            return Admission::Forbidden;
        }
        let path = uri.path();
        let known = path == self.path
            || self
                .announced
                .read()
                .unwrap_or_else(PoisonError::into_inner)
                .contains(path);
        if known {
            Admission::Forward
        } else {
            Admission::NotFound {
                on_its_own: looks_for_a_login(path),
            }
        }
    }
}

/// Whether it is metadata of a login (RFC 8414 and RFC 9728), or one of the endpoints that stand in where there is none (MCP
/// 2025-03-26, Authorization, "Fallbacks for Servers without Metadata Discovery").
fn looks_for_a_login(path: &str) -> bool {
    path.contains("/.well-known/") || ["/authorize", "/token", "/register"].contains(&path)
}

fn is_loopback(authority: &Authority) -> bool {
    !authority.as_str().contains('@') && matches!(authority.host(), "127.0.0.1" | "localhost" | "[::1]")
}

fn is_loopback_origin(origin: &str) -> bool {
    let authority = origin
        .strip_prefix("http://")
        .or_else(|| origin.strip_prefix("https://"));
    authority
        .and_then(|authority| authority.parse().ok())
        .is_some_and(|authority| is_loopback(&authority))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    fn admit(gate: &Gate, uri: &str, headers: &[(&str, &str)]) -> Admission {
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.append(
                http::HeaderName::from_bytes(name.as_bytes()).unwrap(),
                value.parse().unwrap(),
            );
        }
        gate.admit(&uri.parse().unwrap(), &map)
    }

    #[test]
    fn only_the_mcp_path_and_announced_paths_pass() {
        let gate = Gate::new("/mcp");
        let host = [("host", "127.0.0.1:8080")];
        assert_eq!(admit(&gate, "/mcp?a=b", &host), Admission::Forward);
        for (path, on_its_own) in [
            ("/", false),
            ("/mcp/", false),
            ("/MCP", false),
            ("/.well-known/oauth-authorization-server", true),
            ("/mcp/.well-known/openid-configuration", true),
            ("/register", true),
            ("/register/admin", false),
            ("/messages?id=1", false),
        ] {
            assert_eq!(admit(&gate, path, &host), Admission::NotFound { on_its_own }, "{path}");
        }
        assert!(gate.open("/messages"));
        assert_eq!(admit(&gate, "/messages?id=1", &host), Admission::Forward);
    }

    #[test]
    fn other_hosts_and_origins_are_forbidden() {
        let gate = Gate::new("/mcp");
        for headers in [
            &[("host", "evil.example")][..],
            &[("host", "127.0.0.1.evil.example:80")],
            &[("host", "localhost@evil.example")],
            &[],
            &[("host", "localhost"), ("host", "evil.example")],
            &[("host", "localhost"), ("origin", "https://evil.example")],
            &[("host", "localhost"), ("origin", "null")],
        ] {
            assert_eq!(admit(&gate, "/mcp", headers), Admission::Forbidden, "{headers:?}");
        }
        for headers in [
            &[("host", "localhost:3000")][..],
            &[("host", "[::1]:3000")],
            &[("host", "127.0.0.1"), ("origin", "http://localhost:6274")],
        ] {
            assert_eq!(admit(&gate, "/mcp", headers), Admission::Forward, "{headers:?}");
        }
        assert_eq!(
            admit(&gate, "http://evil.example/mcp", &[("host", "localhost")]),
            Admission::Forbidden
        );
    }

    #[test]
    fn announcements_are_bounded() {
        let gate = Gate::new("/mcp");
        for n in 0..ANNOUNCED_CAP {
            assert!(gate.open(&format!("/{n}")));
        }
        assert!(!gate.open("/one-more"));
        assert!(gate.open("/0"));
    }
}
