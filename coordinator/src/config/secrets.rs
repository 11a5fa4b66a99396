//! What is secret about a config.

use std::collections::BTreeSet;

use mcproctor_proto::agent::Credential;
use mcproctor_proto::redact::{Blinded, Named, Redactor, SHORTEST_SECRET};
use secrecy::ExposeSecret;

use super::settings::Config;

impl Config {
    /// Knows every secret of the config, for whoever has to keep them out of what is written or sent: header values, parameters
    /// of URLs, environment values, keys and tokens.
    pub fn redactor(&self) -> Redactor {
        Redactor::new(self.configured().iter().map(|(_, named)| *named))
    }

    /// The keys of the run, for workers, who are told only those that they use: an agent that nothing confines may find the
    /// others, and print them.
    pub fn blinded_keys(&self) -> Vec<Blinded> {
        let agents = self.run.agents.iter().filter_map(|agent| match &agent.credential {
            Credential::ApiKey(key) | Credential::OauthToken(key) => Some(key),
            Credential::OwnLogin | Credential::None => None,
        });
        let gateway = self.run.gateway.iter().map(|gateway| gateway.token_key.secret());
        let judge = self.judge.iter().filter_map(|judge| judge.api_key.as_ref());
        let keys: BTreeSet<&str> = agents
            .chain(gateway)
            .chain(judge)
            .map(|key| key.expose_secret().trim())
            .filter(|key| key.len() >= SHORTEST_SECRET)
            .collect();
        keys.into_iter().flat_map(Blinded::of).collect()
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
