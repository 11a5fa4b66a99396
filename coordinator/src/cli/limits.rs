//! Limits that cannot be kept to are found before anything runs.

use mcproctor_proto::agent::{Agent, Credential};

use crate::config::Config;

/// Why the limits cannot be kept to with one of the agents, in words.
pub(super) fn out_of_control(config: &Config) -> Option<String> {
    if !config.run.limits.any() {
        return None;
    }
    let agents = &config.run.agents;
    if let Some((agent, why)) = agents.iter().find_map(|agent| Some((agent, without_relay(agent)?))) {
        return Some(format!(
            "run.limits: what the agent {} uses is not seen, because {why}; or leave it out with --agent, or the limits",
            agent.name
        ));
    }
    config.run.limits.max_cost_usd?;
    agents.iter().find_map(|agent| match agent.model.as_deref() {
        None => Some(format!(
            "run.limits.maxCostUsd: the agent {} leaves its model to its program, so what it costs is not known; \
             give it a `model`",
            agent.name
        )),
        Some(model) if config.prices.of(model).is_none() => Some(format!(
            "run.limits.maxCostUsd: the price of {model}, the model of the agent {}, is not known; add it: \
             `prices: {{{model}: {{inputPerMillion: …, outputPerMillion: …}}}}`",
            agent.name
        )),
        Some(_) => None,
    })
}

/// Why no relay lies between the agent and its model, with the remedy.
fn without_relay(agent: &Agent) -> Option<&'static str> {
    if matches!(agent.credential, Credential::OwnLogin) {
        return Some("it runs with your own login; give it a key (`apiKey`)");
    }
    let command = agent.command.as_ref()?;
    command
        .model_api
        .is_none()
        .then_some("it has no `modelApi`; say what it speaks and point it to {model_url}")
}
