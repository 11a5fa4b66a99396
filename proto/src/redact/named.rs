//! What is configured and may be secret.

use std::collections::BTreeMap;

use secrecy::{ExposeSecret, SecretString};

use super::length::{SHORTEST_SECRET, is_credential, shortest_setting};
use crate::agent::{Agent, Credential};
use crate::server::{HttpServer, Server, Transport};

/// A configured value with its name. It has no `Debug`, so that nobody prints it by accident.
#[derive(Clone, Copy)]
pub struct Named<'a> {
    kind: Kind,
    name: &'a str,
    value: &'a str,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Header,
    Key,
    Variable,
    Parameter,
}

impl<'a> Named<'a> {
    /// The value of a header; it is secret whatever its name.
    pub fn header(name: &'a str, value: &'a str) -> Self {
        let kind = Kind::Header;
        Self { kind, name, value }
    }

    /// A key or a token.
    pub fn key(value: &'a str) -> Self {
        let (kind, name) = (Kind::Key, "key");
        Self { kind, name, value }
    }

    /// A variable of an environment: its name has to say whether a short one is secret.
    pub fn variable(name: &'a str, value: &'a str) -> Self {
        let kind = Kind::Variable;
        Self { kind, name, value }
    }

    /// The parameters in the query of a URL, as they stand there; names count as those of variables do.
    pub fn parameters(url: &'a str) -> impl Iterator<Item = Self> {
        let query = url.split_once('?').map_or("", |(_, query)| query);
        let query = query.split('#').next().unwrap_or_default();
        let pairs = query.split('&').filter_map(|pair| pair.split_once('='));
        pairs.map(|(name, value)| Self {
            kind: Kind::Parameter,
            name,
            value,
        })
    }

    /// An agent's credential and its environment.
    pub fn of_agent(agent: &'a Agent) -> Vec<Self> {
        let key = match &agent.credential {
            Credential::ApiKey(key) | Credential::OauthToken(key) => Some(Self::key(key.expose_secret())),
            Credential::OwnLogin | Credential::None => None,
        };
        Self::variables(&agent.env).chain(key).collect()
    }

    /// The headers and the parameters of a server's URL, or its environment.
    pub fn of_server(server: &'a Server) -> Vec<Self> {
        match &server.transport {
            Transport::Http(http) => Self::of_http(http).collect(),
            Transport::Stdio(stdio) => Self::variables(&stdio.env).collect(),
        }
    }

    /// The same of a server that is reached over HTTP.
    pub fn of_http(server: &'a HttpServer) -> impl Iterator<Item = Self> {
        let headers = server.headers.iter();
        headers
            .map(|header| Self::header(&header.name, header.value.expose_secret()))
            .chain(Self::parameters(&server.url))
    }

    fn variables(env: &'a BTreeMap<String, SecretString>) -> impl Iterator<Item = Self> {
        env.iter()
            .map(|(name, value)| Self::variable(name, value.expose_secret()))
    }

    /// The value.
    pub fn value(self) -> &'a str {
        self.value
    }

    /// Whether its name says that it is a credential.
    pub fn is_credential(self) -> bool {
        is_credential(self.name)
    }

    /// Whether it is a secret also when it is too short to be looked for.
    pub fn is_secret(self) -> bool {
        matches!(self.kind, Kind::Header | Kind::Key) || self.is_credential()
    }

    /// The fewest bytes with which it is looked for.
    pub fn shortest(self) -> usize {
        match self.kind {
            Kind::Header | Kind::Key => SHORTEST_SECRET,
            Kind::Variable | Kind::Parameter => shortest_setting(self.name),
        }
    }

    /// Where it is configured, without its value: `header X-Pin of weather`.
    pub fn place(self, owner: &str) -> String {
        let name = self.name;
        match self.kind {
            Kind::Header => format!("header {name} of {owner}"),
            Kind::Key => format!("the key of {owner}"),
            Kind::Variable => format!("env {name} of {owner}"),
            Kind::Parameter => format!("{name} in the URL of {owner}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_query_ends_at_the_fragment() {
        let found: Vec<_> = Named::parameters("http://h/p?key=a%20b&flag&x=1#key=c")
            .map(|it| (it.name, it.value))
            .collect();
        assert_eq!(found, [("key", "a%20b"), ("x", "1")]);
        assert_eq!(Named::parameters("http://h/p").count(), 0);
    }

    #[test]
    fn everything_of_a_server_is_known_and_only_what_is_a_credential_is_secret_when_it_is_short() {
        let server = Server {
            name: "m".to_owned(),
            transport: Transport::Http(HttpServer {
                url: "https://h/mcp?token=abc&lang=de".to_owned(),
                headers: vec![crate::server::Header {
                    name: "X-Pin".to_owned(),
                    value: "123".to_owned().into(),
                }],
                ca_pem: None,
            }),
        };
        let known: Vec<_> = Named::of_server(&server)
            .into_iter()
            .map(|it| (it.place("m"), it.value(), it.is_secret(), it.shortest()))
            .collect();
        assert_eq!(
            known,
            [
                ("header X-Pin of m".to_owned(), "123", true, 4),
                ("token in the URL of m".to_owned(), "abc", true, 4),
                ("lang in the URL of m".to_owned(), "de", false, 6),
            ]
        );
    }
}
