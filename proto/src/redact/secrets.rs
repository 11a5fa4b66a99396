//! What is secret about an attempt.

use crate::agent::{Agent, Credential};
use crate::server::{Server, Transport};
use secrecy::ExposeSecret;

use super::redactor::{Named, Redactor};

impl Redactor {
    /// Knows the agent's credential and environment, and of every server the headers, the query of the URL and the
    /// environment.
    pub fn of_attempt(agent: &Agent, servers: &[Server]) -> Self {
        let mut secrets: Vec<Named<'_>> = Vec::new();
        match &agent.credential {
            Credential::ApiKey(key) => secrets.push(Named::secret("api-key", key.expose_secret())),
            Credential::OauthToken(token) => secrets.push(Named::secret("oauth-token", token.expose_secret())),
            Credential::OwnLogin | Credential::None => {}
        }
        secrets.extend(
            agent
                .env
                .iter()
                .map(|(name, value)| Named::setting(name, value.expose_secret())),
        );
        for server in servers {
            match &server.transport {
                Transport::Http(http) => {
                    let headers = http.headers.iter();
                    secrets.extend(headers.map(|header| Named::secret(&header.name, header.value.expose_secret())));
                    secrets.extend(parameters(&http.url).map(|(name, value)| Named::setting(name, value)));
                }
                Transport::Stdio(stdio) => {
                    secrets.extend(
                        stdio
                            .env
                            .iter()
                            .map(|(name, value)| Named::setting(name, value.expose_secret())),
                    );
                }
            }
        }
        Self::new(secrets.into_iter())
    }
}

/// Names and values in the query of a URL, as they stand there.
fn parameters(url: &str) -> impl Iterator<Item = (&str, &str)> {
    let query = url.split_once('?').map_or("", |(_, query)| query);
    let query = query.split('#').next().unwrap_or_default();
    query.split('&').filter_map(|pair| pair.split_once('='))
}

#[cfg(test)]
mod tests {
    use super::parameters;

    #[test]
    fn the_query_ends_at_the_fragment() {
        let found: Vec<_> = parameters("http://h/p?key=a%20b&flag&x=1#key=c").collect();
        assert_eq!(found, [("key", "a%20b"), ("x", "1")]);
        assert_eq!(parameters("http://h/p").count(), 0);
    }
}
