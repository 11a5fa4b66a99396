//! Which headers of a request are passed on. Pure.

use http::HeaderMap;
use http::header::{
    ACCEPT, ACCEPT_ENCODING, ACCEPT_LANGUAGE, CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE, HeaderName, USER_AGENT,
};

use crate::hop_by_hop::strip_hop_by_hop;

/// Headers that describe the request, whatever API it is for.
const OF_HTTP: [HeaderName; 7] = [
    ACCEPT,
    ACCEPT_ENCODING,
    ACCEPT_LANGUAGE,
    CONTENT_ENCODING,
    CONTENT_LENGTH,
    CONTENT_TYPE,
    USER_AGENT,
];

/// Headers of the APIs and of the agents that speak to them, as Claude Code 2.1.197, Codex 0.171.0 and the makers' own libraries
/// send them. Those that choose an account (`openai-organization`, `openai-project`) are the user's to set and not the agent's.
const OF_APIS: [&str; 13] = [
    "anthropic-beta",
    "anthropic-dangerous-direct-browser-access",
    "anthropic-version",
    "idempotency-key",
    "openai-beta",
    "originator",
    "session-id",
    "session_id",
    "thread-id",
    "traceparent",
    "version",
    "x-app",
    "x-client-request-id",
];

/// How the names of further ones begin.
const BEGINNINGS: [&str; 5] = [
    "x-claude-code-",
    "x-codex-",
    "x-openai-internal-codex-",
    "x-openai-subagent",
    "x-stainless-",
];

/// Takes out every header of a request that is not known to be needed: among them are those by which a proxy or a framework would
/// take the request for another one (`x-http-method-override`, `x-original-url`, `forwarded`).
pub(super) fn keep_known(headers: &mut HeaderMap) {
    strip_hop_by_hop(headers);
    let unknown: Vec<HeaderName> = headers.keys().filter(|name| !is_known(name)).cloned().collect();
    for name in unknown {
        headers.remove(name);
    }
}

fn is_known(name: &HeaderName) -> bool {
    OF_HTTP.contains(name)
        || OF_APIS.contains(&name.as_str())
        || BEGINNINGS.iter().any(|beginning| name.as_str().starts_with(beginning))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use http::header::CONNECTION;

    use super::*;

    fn kept(names: &[&'static str]) -> Vec<String> {
        let mut headers = HeaderMap::new();
        for name in names {
            headers.append(*name, "x".parse().unwrap());
        }
        keep_known(&mut headers);
        let mut kept: Vec<String> = headers.keys().map(ToString::to_string).collect();
        kept.sort();
        kept
    }

    #[test]
    fn what_the_agents_send_is_passed_on() {
        // As seen of Claude Code 2.1.197 and Codex 0.171.0, without what belongs to the connection or is a credential.
        let mut sent = vec![
            "accept",
            "accept-encoding",
            "anthropic-beta",
            "anthropic-dangerous-direct-browser-access",
            "anthropic-version",
            "content-length",
            "content-type",
            "originator",
            "session-id",
            "thread-id",
            "user-agent",
            "x-app",
            "x-claude-code-session-id",
            "x-client-request-id",
            "x-codex-beta-features",
            "x-codex-turn-metadata",
            "x-codex-window-id",
            "x-openai-internal-codex-responses-lite",
            "x-stainless-arch",
            "x-stainless-lang",
            "x-stainless-os",
            "x-stainless-package-version",
            "x-stainless-retry-count",
            "x-stainless-runtime",
            "x-stainless-runtime-version",
            "x-stainless-timeout",
        ];
        sent.sort_unstable();
        assert_eq!(kept(&sent), sent);
    }

    #[test]
    fn what_would_make_it_another_request_or_another_account_is_not() {
        let none: [&str; 0] = [];
        assert_eq!(
            kept(&[
                "x-http-method-override",
                "x-http-method",
                "x-method-override",
                "x-original-url",
                "x-rewrite-url",
                "x-forwarded-for",
                "x-forwarded-host",
                "forwarded",
                "via",
                "x-real-ip",
                "proxy-authorization",
                "openai-organization",
                "openai-project",
                "chatgpt-account-id",
                "anthropic-organization-id",
                "x-mcproctor-refusal",
                "cookie",
                "host",
                "expect",
                "range",
                "x-own",
            ]),
            none
        );
        let mut headers = HeaderMap::new();
        headers.insert(CONNECTION, "anthropic-beta, close".parse().unwrap());
        headers.insert("anthropic-beta", "x".parse().unwrap());
        keep_known(&mut headers);
        assert!(headers.is_empty(), "{headers:?}");
    }
}
