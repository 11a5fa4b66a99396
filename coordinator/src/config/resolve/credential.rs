//! How an agent authenticates at its model API.

use mcproctor_proto::agent::{AgentKind, Credential, ModelApi};
use secrecy::SecretString;

use crate::config::interpolate::Variables;
use crate::yaml::Text;

/// The entry's own key, else the variable that the provider's programs read, else the program's own login.
///
/// An API at a `baseUrl` that is given no key is asked without one: the user's own login is for the provider. A command is
/// given a provider's key only when it speaks to that provider.
pub(super) fn credential(
    kind: AgentKind,
    api_key: Option<&Text>,
    has_base_url: bool,
    model_api: Option<ModelApi>,
    variables: &Variables<'_>,
) -> Credential {
    if let Some(key) = api_key {
        return Credential::ApiKey(SecretString::from(key.value.clone()));
    }
    // The programs themselves take an empty variable for none.
    let variable = |name| {
        variables
            .get(name)
            .filter(|value| !value.is_empty())
            .map(SecretString::from)
    };
    let anthropic_key = || variable("ANTHROPIC_API_KEY").map(Credential::ApiKey);
    let anthropic_token = || variable("CLAUDE_CODE_OAUTH_TOKEN").map(Credential::OauthToken);
    let openai_key = || variable("OPENAI_API_KEY").map(Credential::ApiKey);
    let found = match (kind, model_api) {
        (AgentKind::Claude, _) => anthropic_key().or_else(anthropic_token),
        (AgentKind::Codex, _) => openai_key(),
        (AgentKind::Command, None) => return Credential::None,
        (AgentKind::Command, Some(_)) if has_base_url => return Credential::None,
        (AgentKind::Command, Some(ModelApi::Messages)) => return anthropic_key().unwrap_or(Credential::None),
        (AgentKind::Command, Some(ModelApi::Responses | ModelApi::ChatCompletions)) => {
            return openai_key().unwrap_or(Credential::None);
        }
    };
    found.unwrap_or(if has_base_url {
        Credential::None
    } else {
        Credential::OwnLogin
    })
}
