//! Where the server under test is, taken apart once.

use http::uri::{Authority, PathAndQuery, Scheme};
use url::Url;

use super::error::ProxyError;

/// The server's address.
#[derive(Clone, Debug)]
pub(super) struct Target {
    /// `http` or `https`.
    pub(super) scheme: Scheme,
    /// Host, and port unless it is the scheme's own: the value of `Host`.
    pub(super) authority: Authority,
    /// The MCP path.
    pub(super) path: String,
    /// The configured query; the proxy adds it, the agent never sees it.
    pub(super) query: Option<String>,
}

impl Target {
    /// Reads a configured URL.
    ///
    /// # Errors
    /// It is no absolute `http` or `https` URL, or carries user information.
    pub(super) fn parse(text: &str) -> Result<Self, ProxyError> {
        let bad = |why: &str| ProxyError::Target { why: why.to_owned() };
        let url = Url::parse(text).map_err(|error| bad(&error.to_string()))?;
        let scheme = match url.scheme() {
            "http" => Scheme::HTTP,
            "https" => Scheme::HTTPS,
            _ => return Err(bad("only http and https are supported")),
        };
        if !url.username().is_empty() || url.password().is_some() {
            return Err(bad(
                "user information is not supported; inject an Authorization header instead",
            ));
        }
        let host = url.host_str().ok_or_else(|| bad("no host"))?;
        let authority = match url.port() {
            Some(port) => format!("{host}:{port}"),
            None => host.to_owned(),
        };
        Ok(Self {
            scheme,
            authority: authority.parse().map_err(|_| bad("the host is not valid"))?,
            path: url.path().to_owned(),
            query: url.query().map(str::to_owned),
        })
    }

    /// `scheme://authority`, for people.
    pub(super) fn origin(&self) -> String {
        format!("{}://{}", self.scheme, self.authority)
    }

    /// What is asked of the server for an agent's request target: on the MCP path with the configured query added.
    pub(super) fn path_and_query(&self, asked: &PathAndQuery) -> PathAndQuery {
        let Some(own) = self.query.as_deref().filter(|_| asked.path() == self.path) else {
            return asked.clone();
        };
        let text = match asked.query() {
            Some(query) if !query.is_empty() => format!("{}?{own}&{query}", asked.path()),
            _ => format!("{}?{own}", asked.path()),
        };
        text.parse().unwrap_or_else(|_| asked.clone())
    }

    /// Whether `url` has this origin.
    pub(super) fn same_origin(&self, url: &Url) -> bool {
        let own = Url::parse(&self.origin());
        own.is_ok_and(|own| own.origin() == url.origin())
    }

    /// The whole address of a request target, for resolving what the server's answers refer to.
    pub(super) fn absolute(&self, asked: &PathAndQuery) -> Option<Url> {
        Url::parse(&self.origin()).ok()?.join(asked.as_str()).ok()
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn path_query_and_trailing_slash_are_kept() {
        let target = Target::parse("https://Example.com:443/a/mcp/?key=s3cret").unwrap();
        assert_eq!(target.authority.as_str(), "example.com");
        assert_eq!(target.path, "/a/mcp/");
        let ask = |text: &str| target.path_and_query(&text.parse().unwrap()).to_string();
        assert_eq!(ask("/a/mcp/"), "/a/mcp/?key=s3cret");
        assert_eq!(ask("/a/mcp/?x=1"), "/a/mcp/?key=s3cret&x=1");
        assert_eq!(ask("/messages?id=1"), "/messages?id=1");
    }

    #[test]
    fn what_cannot_be_proxied_is_refused_without_repeating_its_secrets() {
        for url in ["ftp://h/", "h/mcp", "http://user:s3cret@h/", "unix:/x"] {
            let error = Target::parse(url).unwrap_err().to_string();
            assert!(!error.contains("s3cret"), "{error}");
        }
    }
}
