//! What is secret about a config.

use mcproctor_proto::agent::Credential;
use mcproctor_proto::redact::{SHORTEST_SECRET, is_credential, shortest_setting};
use mcproctor_proto::server::Transport;
use secrecy::{ExposeSecret, SecretString};

use super::settings::Config;

/// A value that was configured, and where.
struct Configured {
    place: String,
    value: SecretString,
    /// The fewest bytes with which it is looked for.
    shortest: usize,
    /// Whether a shorter one is a secret all the same.
    secret: bool,
}

impl Configured {
    fn secret(place: String, value: SecretString) -> Self {
        Self {
            place,
            value,
            shortest: SHORTEST_SECRET,
            secret: true,
        }
    }

    /// Its name has to say whether it is secret.
    fn setting(place: String, name: &str, value: SecretString) -> Self {
        Self {
            place,
            value,
            shortest: shortest_setting(name),
            secret: is_credential(name),
        }
    }

    fn length(&self) -> usize {
        self.value.expose_secret().trim().len()
    }
}

impl Config {
    /// Every secret of the config that is long enough to be recognised, for whoever has to keep them out of what is written:
    /// header values, environment values, keys and tokens. Short values of an environment count when their name says that
    /// they are credentials.
    pub fn secrets(&self) -> Vec<SecretString> {
        let configured = self.configured().into_iter();
        configured
            .filter(|it| it.length() >= it.shortest)
            .map(|it| it.value)
            .collect()
    }

    /// That some secrets are too short to be recognised, with the places where they are configured; `None` when none is.
    pub(super) fn too_short(&self) -> Option<String> {
        let configured = self.configured();
        let short = configured
            .iter()
            .filter(|it| it.secret && (1..it.shortest).contains(&it.length()));
        let places: Vec<&str> = short.map(|it| it.place.as_str()).collect();
        (!places.is_empty()).then(|| {
            format!(
                "shorter than {SHORTEST_SECRET} bytes, so not redacted where it appears: {}",
                places.join(", ")
            )
        })
    }

    fn configured(&self) -> Vec<Configured> {
        let mut all = Vec::new();
        for server in &self.servers {
            match &server.transport {
                Transport::Http(http) => all.extend(http.headers.iter().map(|header| {
                    Configured::secret(
                        format!("header {} of {}", header.name, server.name),
                        header.value.clone(),
                    )
                })),
                Transport::Stdio(stdio) => all.extend(stdio.env.iter().map(|(name, value)| {
                    Configured::setting(format!("env {name} of {}", server.name), name, value.clone())
                })),
            }
        }
        for agent in &self.run.agents {
            let env = agent.env.iter();
            all.extend(env.map(|(name, value)| {
                Configured::setting(format!("env {name} of the agent {}", agent.name), name, value.clone())
            }));
            match &agent.credential {
                Credential::ApiKey(secret) | Credential::OauthToken(secret) => all.push(Configured::secret(
                    format!("the key of the agent {}", agent.name),
                    secret.clone(),
                )),
                Credential::OwnLogin | Credential::None => {}
            }
        }
        if let Some(judge) = &self.judge {
            let key = judge.api_key.iter();
            all.extend(key.map(|key| Configured::secret("the judge's key".to_owned(), key.clone())));
            all.extend(judge.base_url.query_pairs().map(|(name, value)| {
                Configured::setting(
                    format!("{name} in the judge's baseUrl"),
                    &name,
                    value.into_owned().into(),
                )
            }));
        }
        all
    }
}
