//! Limits that cannot be kept to are found before anything runs.

use mcproctor_proto::agent::{Agent, Credential};

use crate::config::Config;
use crate::yaml::{KeyPath, Place, Problem};

/// Why the limits cannot be kept to with one of the agents, where that is said, and what helps.
pub(super) fn out_of_control(config: &Config) -> Option<String> {
    if !config.run.limits.any() {
        return None;
    }
    let places = config.run.limit_places;
    let agents = &config.run.agents;
    if let Some((agent, (why, remedy))) = agents.iter().find_map(|agent| Some((agent, without_relay(agent)?))) {
        let what = format!("what the agent {} uses is not seen, because {why}", agent.name);
        let remedy = format!("{remedy}; or leave it out with --agent, or the limits");
        return Some(problem(config, places.first(), what, remedy));
    }
    config.run.limits.max_cost_usd?;
    let (what, remedy) = agents.iter().find_map(|agent| match agent.model.as_deref() {
        None => Some((
            format!(
                "the agent {} leaves its model to its program, so what it costs is not known",
                agent.name
            ),
            "give it a `model`".to_owned(),
        )),
        Some(model) if config.prices.of(model).is_none() => Some((
            format!(
                "the price of {model}, the model of the agent {}, is not known",
                agent.name
            ),
            format!("add it: `prices: {{{model}: {{inputPerMillion: …, outputPerMillion: …}}}}`"),
        )),
        Some(_) => None,
    })?;
    let place = places.max_cost_usd.map(|place| ("maxCostUsd", place));
    Some(problem(config, place, what, remedy))
}

fn problem(config: &Config, at: Option<(&'static str, Place)>, what: String, remedy: String) -> String {
    let limits = KeyPath::root().key("run").key("limits");
    let problem = Problem::of_file(&config.file, what).remedy(remedy);
    let problem = match at {
        Some((key, place)) => problem.at(place).key(&limits.key(key)),
        None => problem.key(&limits),
    };
    problem.to_string()
}

/// Why no relay lies between the agent and its model, and what helps.
fn without_relay(agent: &Agent) -> Option<(&'static str, &'static str)> {
    if matches!(agent.credential, Credential::OwnLogin) {
        return Some(("it runs with your own login", "give it a key (`apiKey`)"));
    }
    let command = agent.command.as_ref()?;
    command
        .model_api
        .is_none()
        .then_some(("it has no `modelApi`", "say what it speaks and point it to {model_url}"))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use crate::config::{Environment, load};

    /// What is said of a run with these agents and limits; the file without its folder.
    fn said(run: &str) -> Option<String> {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("eval.yaml");
        let text = format!("mcp: {{url: 'http://h/mcp'}}\ntestcases: {{path: .}}\nrun:\n{run}");
        std::fs::write(&file, text).unwrap();
        let config = load(&file, &Environment::default()).unwrap();
        let folder = format!("{}/", folder.path().display());
        out_of_control(&config).map(|problem| problem.replace(&folder, ""))
    }

    #[test]
    fn what_cannot_be_kept_to_is_told_where_it_is_asked_for() {
        let command = "{kind: command, name: mine, command: cat}";
        let claude = "{kind: claude, apiKey: k}";
        for (agent, limits, expected) in [
            (
                command,
                "  limits:\n    requestsPerMinute: 5\n    maxTokens: 9\n",
                "eval.yaml:6:24: run.limits.requestsPerMinute: what the agent mine uses is not seen, because it has no `modelApi`\n    \
                 remedy: say what it speaks and point it to {model_url}; or leave it out with --agent, or the limits",
            ),
            (
                "{kind: claude}",
                "  limits: {maxTokens: 9}\n",
                "eval.yaml:5:23: run.limits.maxTokens: what the agent claude uses is not seen, because it runs with your own login\n    \
                 remedy: give it a key (`apiKey`); or leave it out with --agent, or the limits",
            ),
            (
                claude,
                "  limits: {maxTokens: 9, maxCostUsd: 1}\n",
                "eval.yaml:5:38: run.limits.maxCostUsd: the agent claude leaves its model to its program, so what it costs is not \
                 known\n    remedy: give it a `model`",
            ),
            (
                "{kind: claude, apiKey: k, model: strange}",
                "  limits: {maxCostUsd: 1}\n",
                "eval.yaml:5:24: run.limits.maxCostUsd: the price of strange, the model of the agent claude, is not known\n    \
                 remedy: add it: `prices: {strange: {inputPerMillion: …, outputPerMillion: …}}`",
            ),
        ] {
            let told = said(&format!("  agents: [{agent}]\n{limits}"));
            assert_eq!(told.as_deref(), Some(expected));
        }
        assert_eq!(
            said(&format!("  agents: [{claude}]\n  limits: {{maxTokens: 9}}\n")),
            None
        );
        assert_eq!(said(&format!("  agents: [{command}]\n")), None);
    }
}
