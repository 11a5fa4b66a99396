//! Where an agent's model API is, when the entry does not say.

use mcproctor_proto::agent::AgentKind;
use url::Url;

use crate::config::interpolate::Variables;
use crate::yaml::Problems;

/// The address that the agent's own program would take from the environment: `ANTHROPIC_BASE_URL` for claude,
/// `OPENAI_BASE_URL` for codex. Whoever sends an agent through a gateway expects an evaluation to go the same way.
pub(super) fn from_environment(kind: AgentKind, variables: &Variables<'_>, problems: &mut Problems) -> Option<String> {
    let name = match kind {
        AgentKind::Claude => "ANTHROPIC_BASE_URL",
        AgentKind::Codex => "OPENAI_BASE_URL",
        AgentKind::Command => return None,
    };
    let value = variables.get(name).filter(|value| !value.is_empty())?;
    // The value may hold a credential, so it is not repeated.
    let usable = Url::parse(value).is_ok_and(|url| {
        matches!(url.scheme(), "http" | "https") && url.username().is_empty() && url.password().is_none()
    });
    if !usable {
        let problem = problems.new_problem(format!("the variable {name} is no address of a model API for {kind}"));
        problems.add(
            problem
                .accepted("an http or https URL without user name and password")
                .remedy(format!("correct or unset {name}, or give the agent a `baseUrl`")),
        );
    }
    Some(value.to_owned())
}
