//! What is secret about a config.

use mcproctor_proto::redact::{Named, Redactor, SHORTEST_SECRET};
use secrecy::ExposeSecret;

use super::settings::Config;

impl Config {
    /// Knows every secret of the config, for whoever has to keep them out of what is written or sent: header values, parameters
    /// of URLs, environment values, keys and tokens.
    pub fn redactor(&self) -> Redactor {
        Redactor::new(self.configured().iter().map(|(_, named)| *named))
    }

    /// That some secrets are too short to be recognised, with the places where they are configured; `None` when none is.
    pub(super) fn too_short(&self) -> Option<String> {
        let mut places = Vec::new();
        for (owner, named) in self.configured() {
            let length = named.value().trim().len();
            if named.is_secret() && (1..named.shortest()).contains(&length) {
                places.push(named.place(&owner));
            }
        }
        (!places.is_empty()).then(|| {
            format!(
                "shorter than {SHORTEST_SECRET} bytes, so not redacted where it appears: {}",
                places.join(", ")
            )
        })
    }

    /// Every value that may be secret, and whose it is.
    fn configured(&self) -> Vec<(String, Named<'_>)> {
        let mut all = Vec::new();
        let mut add = |owner: String, named: Vec<_>| all.extend(named.into_iter().map(|it| (owner.clone(), it)));
        for server in &self.servers {
            add(server.name.clone(), Named::of_server(server));
        }
        for agent in &self.run.agents {
            add(format!("the agent {}", agent.name), Named::of_agent(agent));
        }
        if let Some(gateway) = &self.run.gateway {
            let key = Named::key(gateway.token_key.secret().expose_secret());
            add("the gateway".to_owned(), vec![key]);
        }
        if let Some(judge) = &self.judge {
            let key = judge.api_key.iter().map(|key| Named::key(key.expose_secret()));
            let named = key.chain(Named::parameters(judge.base_url.as_str())).collect();
            add("the judge".to_owned(), named);
        }
        all
    }
}
