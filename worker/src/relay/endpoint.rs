//! Which requests are passed on, and where they go.

use http::{Method, Uri};
pub use mcproctor_proto::agent::Dialect;
use url::Url;

use super::error::RelayError;

/// What a request is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Purpose {
    /// It asks the model for something; refusals of it count.
    Completion,
    /// It counts tokens or lists models; its fate says nothing about the attempt.
    Side,
}

/// What an endpoint of this dialect is for; `None` when it is not passed on.
///
/// Sources: <https://platform.claude.com/docs/en/api/overview>, <https://platform.openai.com/docs/api-reference/responses>.
pub(super) fn purpose(dialect: Dialect, method: &Method, path: &str) -> Option<Purpose> {
    let path = path.strip_prefix("/v1/")?;
    if !path.split('/').all(is_plain) {
        return None;
    }
    let (main, rest) = path.split_once('/').unwrap_or((path, ""));
    match (dialect, method.as_str(), main, rest) {
        (Dialect::Anthropic, "POST", "messages", "") => Some(Purpose::Completion),
        (Dialect::Anthropic, "POST", "messages", "count_tokens") => Some(Purpose::Side),
        (Dialect::OpenAi, "POST", "responses", "" | "compact") => Some(Purpose::Completion),
        (Dialect::OpenAi, "POST", "responses", "input_tokens") => Some(Purpose::Side),
        (Dialect::OpenAi, "POST", "chat", "completions") => Some(Purpose::Completion),
        (_, "GET" | "HEAD", "models", _) => Some(Purpose::Side),
        _ => None,
    }
}

/// Whether a segment of a path means the same to everybody on the way. Names of models need nothing else; with `%2e`, `\\` and `;`
/// one server reads another path than the next.
fn is_plain(segment: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.:@+~".contains(&byte);
    !matches!(segment, "" | "." | "..") && segment.bytes().all(plain)
}

/// Whether a query asks for another method than the request has, as some frameworks let it (`_method`, `$httpMethod`,
/// `X-HTTP-Method-Override`).
pub(super) fn overrides_method(query: Option<&str>) -> bool {
    let pairs = url::form_urlencoded::parse(query.unwrap_or_default().as_bytes());
    pairs
        .map(|(name, _)| name.to_ascii_lowercase())
        .any(|name| name.contains("method"))
}

/// The model API: its origin, the path that stands before `/v1/…` or takes its place, and a fixed query.
#[derive(Clone, Debug)]
pub(super) struct Upstream {
    base: String,
    query: Option<String>,
    host: String,
    https: bool,
}

impl Upstream {
    /// Reads a base URL: an Anthropic one stands before `/v1`, an OpenAI one ends with it or with what takes its place.
    pub(super) fn new(dialect: Dialect, url: &Url) -> Result<Self, RelayError> {
        let refused = |why| {
            let mut shown = url.clone();
            // Both fail only for URLs that cannot have a user name, which then hold none.
            let _ = shown.set_password(None);
            let _ = shown.set_username("");
            shown.set_query(None);
            RelayError::Upstream {
                url: shown.to_string(),
                why,
            }
        };
        if !matches!(url.scheme(), "http" | "https") {
            return Err(refused("it has to start with http:// or https://"));
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(refused("it must not hold a user name or password"));
        }
        let host = url.host_str().ok_or_else(|| refused("it names no host"))?.to_owned();
        let path = url.path().trim_end_matches('/');
        let path = match dialect {
            Dialect::Anthropic => path.strip_suffix("/v1").unwrap_or(path),
            Dialect::OpenAi => path,
        };
        Ok(Self {
            base: format!("{}{path}", &url[..url::Position::BeforePath]),
            query: url.query().map(str::to_owned),
            host,
            https: url.scheme() == "https",
        })
    }

    /// Where a request of the agent goes.
    pub(super) fn target(
        &self,
        dialect: Dialect,
        path: &str,
        query: Option<&str>,
    ) -> Result<Uri, http::uri::InvalidUri> {
        let path = match dialect {
            Dialect::Anthropic => path,
            Dialect::OpenAi => path.strip_prefix("/v1").unwrap_or(path),
        };
        let query = match (&self.query, query) {
            (Some(fixed), Some(own)) => {
                let mut all = fixed.clone();
                for pair in own.split('&').filter(|pair| !is_set_by(fixed, pair)) {
                    all.push('&');
                    all.push_str(pair);
                }
                format!("?{all}")
            }
            (Some(one), None) => format!("?{one}"),
            (None, Some(one)) => format!("?{one}"),
            (None, None) => String::new(),
        };
        format!("{}{path}{query}", self.base).parse()
    }

    /// The origin as a URI, for the question whether a proxy lies before it.
    pub(super) fn origin(&self) -> Result<Uri, http::uri::InvalidUri> {
        format!("{}/", self.base).parse()
    }

    /// Whether it is reached over TLS.
    pub(super) fn https(&self) -> bool {
        self.https
    }

    /// Whether it lies on this machine, so that no proxy is ever asked.
    pub(super) fn loopback(&self) -> bool {
        is_loopback(&self.host)
    }
}

/// Whether a fixed query has the name of this pair, so that the pair would set it anew.
fn is_set_by(fixed: &str, pair: &str) -> bool {
    let name = |pair: &str| {
        let parsed = url::form_urlencoded::parse(pair.as_bytes()).next();
        parsed.map(|(name, _)| name.to_ascii_lowercase())
    };
    fixed.split('&').any(|own| name(own) == name(pair))
}

/// Whether a host name or address means this machine.
pub(super) fn is_loopback(host: &str) -> bool {
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    bare.eq_ignore_ascii_case("localhost") || bare.parse::<std::net::IpAddr>().is_ok_and(|ip| ip.is_loopback())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    fn target(dialect: Dialect, base: &str, path: &str, query: Option<&str>) -> String {
        Upstream::new(dialect, &base.parse().unwrap())
            .unwrap()
            .target(dialect, path, query)
            .unwrap()
            .to_string()
    }

    #[test]
    fn base_urls_of_both_dialects_lead_to_the_same_endpoints() {
        for base in [
            "https://api.anthropic.com",
            "https://api.anthropic.com/",
            "https://api.anthropic.com/v1/",
        ] {
            assert_eq!(
                target(Dialect::Anthropic, base, "/v1/messages", Some("beta=true")),
                "https://api.anthropic.com/v1/messages?beta=true"
            );
        }
        assert_eq!(
            target(Dialect::OpenAi, "https://api.openai.com/v1", "/v1/responses", None),
            "https://api.openai.com/v1/responses"
        );
        assert_eq!(
            target(
                Dialect::OpenAi,
                "https://host/v1?key=own&v=1",
                "/v1/responses",
                Some("KEY=x&a=b&%76=2")
            ),
            "https://host/v1/responses?key=own&v=1&a=b",
            "what the user set the agent does not"
        );
        assert_eq!(
            target(
                Dialect::OpenAi,
                "http://127.0.0.1:8080/api/v3/?api-version=1",
                "/v1/chat/completions",
                Some("a=b")
            ),
            "http://127.0.0.1:8080/api/v3/chat/completions?api-version=1&a=b"
        );
    }

    #[test]
    fn nothing_but_the_endpoints_of_the_dialect_is_passed_on() {
        let post = |dialect, path| purpose(dialect, &Method::POST, path);
        assert_eq!(post(Dialect::Anthropic, "/v1/messages"), Some(Purpose::Completion));
        assert_eq!(
            post(Dialect::Anthropic, "/v1/messages/count_tokens"),
            Some(Purpose::Side)
        );
        assert_eq!(
            post(Dialect::OpenAi, "/v1/responses/compact"),
            Some(Purpose::Completion)
        );
        assert_eq!(
            purpose(Dialect::OpenAi, &Method::GET, "/v1/models"),
            Some(Purpose::Side)
        );
        for path in [
            "/",
            "/v1",
            "/v1/",
            "/v1/files",
            "/v1/messages/batches",
            "/v1/messages/../files",
            "/v1/%6dessages",
            "/v1//messages",
            "/v1/organizations/api_keys",
            "/api/oauth/usage",
            "/v1/responses",
        ] {
            assert_eq!(post(Dialect::Anthropic, path), None, "{path}");
        }
        let list = |path| purpose(Dialect::OpenAi, &Method::GET, path);
        for path in [
            "/v1/models/meta-llama/Llama-3.1:free",
            "/v1/models/ft:gpt-4o:org::id",
            "/v1/models/@cf/x~1+2_3",
        ] {
            assert_eq!(list(path), Some(Purpose::Side), "{path}");
        }
        for path in [
            "/v1/models/..",
            "/v1/models/../files",
            "/v1/models/x/../../files",
            "/v1/models/%2e%2e/files",
            "/v1/models/%2E%2E%2Ffiles",
            "/v1/models/x%5c..%5cfiles",
            "/v1/models/..\\..\\files",
            "/v1/models/x;y/files",
            "/v1/models/..;/files",
            "/v1/models/x%00",
            "/v1/models/x?y",
            "/v1/models/ü",
        ] {
            assert_eq!(list(path), None, "{path}");
        }
        assert_eq!(purpose(Dialect::Anthropic, &Method::DELETE, "/v1/models/x"), None);
        for (query, overrides) in [
            ("beta=true&limit=5", false),
            ("_method=DELETE", true),
            ("beta=true&%24httpMethod=PUT", true),
            ("X-HTTP-Method-Override=PUT", true),
        ] {
            assert_eq!(overrides_method(Some(query)), overrides, "{query}");
        }
        assert_eq!(
            purpose(Dialect::OpenAi, &Method::GET, "/v1/responses"),
            None,
            "a WebSocket upgrade"
        );
    }

    #[test]
    fn a_base_url_with_a_password_is_refused_and_not_repeated() {
        let url = "https://user:sentinel@api.example.com".parse().unwrap();
        let error = Upstream::new(Dialect::OpenAi, &url).unwrap_err();
        assert!(!format!("{error} {error:?}").contains("sentinel"));
    }
}
