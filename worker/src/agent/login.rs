//! How agents with a model of their own authenticate.

use std::collections::BTreeMap;
use std::env;

use mcproctor_proto::agent::{Agent, Credential};
use secrecy::SecretString;

use super::driver::Place;
use super::error::AgentError;

/// The key that an agent shows to the relay, which puts the real one in its place.
pub(super) const PLACEHOLDER_KEY: &str = "sk-mcproctor-placeholder";

/// The same in the form of an OAuth token of Anthropic's.
pub(super) const PLACEHOLDER_TOKEN: &str = "sk-ant-oat01-mcproctor-placeholder";

/// What reaching the model's maker without the relay, and finding the login, needs of the worker's own environment.
const OWN_VARIABLES: [&str; 11] = [
    "USER",
    "LOGNAME",
    "HTTPS_PROXY",
    "HTTP_PROXY",
    "NO_PROXY",
    "https_proxy",
    "http_proxy",
    "no_proxy",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "NODE_EXTRA_CA_CERTS",
];

/// Checks that the agent has either a relay or a login of its own.
pub(super) fn check(agent: &Agent, place: &Place) -> Result<(), AgentError> {
    let own = matches!(agent.credential, Credential::OwnLogin);
    let reason = match (own, &place.model_url, &place.own_home) {
        (true, None, Some(_)) | (false, Some(_), _) => return Ok(()),
        (true, Some(_), _) => "its own login cannot go through the relay",
        (true, None, None) => "its own login needs the user's home folder",
        (false, None, _) => "its key needs the relay",
    };
    Err(AgentError::Unsupported {
        agent: agent.name.clone(),
        reason: reason.to_owned(),
    })
}

/// For an agent that uses the user's own login: the user's home, the folder of its settings where the variable
/// `config_folder` names one, and how to reach the network.
pub(super) fn own_environment(place: &Place, config_folder: &str, env: &mut BTreeMap<String, SecretString>) {
    let Some(home) = &place.own_home else { return };
    env.insert(
        "HOME".to_owned(),
        SecretString::from(home.to_string_lossy().into_owned()),
    );
    for name in OWN_VARIABLES.into_iter().chain([config_folder]) {
        if let Ok(value) = env::var(name) {
            env.entry(name.to_owned()).or_insert_with(|| SecretString::from(value));
        }
    }
}
