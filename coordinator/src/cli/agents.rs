//! What is known of the agents before any of them is started.

use std::collections::BTreeMap;

use mcproctor_proto::agent::{Agent, AgentKind, AnswerFormat, BuiltinTools, CommandAgent, Credential};
use mcproctor_proto::assignment::SandboxLevel;
use mcproctor_worker::agent::{find_command, version};
use mcproctor_worker::sandbox::{abilities, image_id, not_enforced};

use super::runtime::chain;
use crate::config::{Able, Config, GatewayAccess};
use crate::price::Prices;
use crate::testcase::TestCase;

/// The version of every agent program that has one; fails at the first program that is not there.
pub(super) fn agent_versions(config: &Config) -> Result<BTreeMap<AgentKind, String>, String> {
    let mut versions = BTreeMap::new();
    for agent in &config.run.agents {
        if versions.contains_key(&agent.kind) {
            continue;
        }
        if let Some(found) = program_version(agent)? {
            versions.insert(agent.kind, found);
        }
    }
    Ok(versions)
}

/// The version of the agent's program; `None` for a command, which has to be there all the same.
pub(super) fn program_version(agent: &Agent) -> Result<Option<String>, String> {
    let failed = |error: &dyn std::error::Error| format!("agent {}: failed to {}", agent.name, chain(error));
    match &agent.command {
        Some(command) => find_command(&command.program)
            .map(|_| None)
            .map_err(|error| failed(&error)),
        None => version(agent.kind).map(Some).map_err(|error| failed(&error)),
    }
}

/// How the agent reaches its model, without secrets.
pub(super) fn model_access(agent: &Agent, gateway: Option<&GatewayAccess>) -> String {
    let model = agent.model.as_deref().unwrap_or("its own default model");
    if let Some(entry) = gateway.and_then(|gateway| gateway.models.get(&agent.name)) {
        let address = agent.base_url.as_deref().unwrap_or_default();
        return format!("{model} through the gateway at {address}, entry {entry}");
    }
    let access = match &agent.credential {
        Credential::ApiKey(_) => "with a key",
        Credential::OauthToken(_) => "with a token",
        Credential::OwnLogin => "with your own login, not isolated",
        Credential::None => "without a key",
    };
    match &agent.base_url {
        // A query may hold a key.
        Some(address) => format!("{model} at {}, {access}", address.split('?').next().unwrap_or_default()),
        None => format!("{model}, {access}"),
    }
}

/// A test case that has answers needs agents that can go on with a conversation.
pub(super) fn without_answers(config: &Config, cases: &[TestCase]) -> Option<String> {
    let case = cases.iter().find(|case| !case.answers.is_empty())?;
    let agent = config.run.agents.iter().find(|agent| {
        agent
            .command
            .as_ref()
            .is_some_and(|command| command.resume_args.is_none())
    })?;
    Some(format!(
        "{}: the test case has `answers`, but the agent {} has no `resumeArgs` and cannot go on with a conversation",
        case.file, agent.name
    ))
}

/// A budget of tokens or money needs agents whose use is counted, or who say what they used.
pub(super) fn without_usage(config: &Config, cases: &[TestCase]) -> Option<String> {
    let budgets = cases.iter().flat_map(|case| {
        let tokens = case.expectations.max_tokens.map(|_| ("maxTokens", Budget::Tokens));
        let cost = case.expectations.max_cost_usd.map(|_| ("maxCostUsd", Budget::Cost));
        tokens.into_iter().chain(cost).map(move |(key, what)| (case, key, what))
    });
    let (case, key, agent, why) = budgets
        .flat_map(|budget| config.run.agents.iter().map(move |agent| (budget, agent)))
        .find_map(|((case, key, what), agent)| Some((case, key, agent, not_told(agent, what, &config.prices)?)))?;
    Some(format!(
        "{}: the test case has `{key}`, but the agent {} ({}) {why}; leave one of them out with --agent or --filter",
        case.file, agent.name, agent.kind
    ))
}

/// What a test case limits.
#[derive(Clone, Copy)]
enum Budget {
    Tokens,
    Cost,
}

/// Why nobody will know what the agent used, if so.
fn not_told(agent: &Agent, budget: Budget, prices: &Prices) -> Option<String> {
    // What it prints may hold a `usage`, unless all of it is the answer.
    let prints_usage = |command: &CommandAgent| command.answer != AnswerFormat::Text;
    let reports = match (agent.kind, budget) {
        (AgentKind::Claude, _) | (AgentKind::Codex, Budget::Tokens) => true,
        (AgentKind::Codex, Budget::Cost) => false,
        (AgentKind::Command, _) => agent.command.as_ref().is_some_and(prints_usage),
    };
    let counted = agent.dialect().is_some() && !matches!(agent.credential, Credential::OwnLogin);
    match (budget, agent.model.as_deref()) {
        _ if reports => None,
        (Budget::Tokens, _) => (!counted).then(|| "does not report its tokens, and no relay counts them".to_owned()),
        (Budget::Cost, _) if !counted => Some("does not report its cost, and no relay counts its tokens".to_owned()),
        (Budget::Cost, None) => Some("does not report its cost, and has no `model` whose price is known".to_owned()),
        (Budget::Cost, Some(model)) => prices.of(model).is_none().then(|| {
            format!(
                "does not report its cost, and the price of {model} is not known: add it \
                 (`prices: {{{model}: {{inputPerMillion: …, outputPerMillion: …}}}}`)"
            )
        }),
    }
}

/// The first test case that leaves something to a judge that the config does not have, in words.
pub(super) fn without_judge(config: &Config, cases: &[TestCase]) -> Option<String> {
    if config.judge.is_some() {
        return None;
    }
    let (case, key) = cases.iter().find_map(|case| Some((case, case.needs_judge()?)))?;
    Some(format!(
        "{}: {key}: the judge decides on it, and the config has no `judge`; add one with `baseUrl` and `model`",
        case.file
    ))
}

/// What this machine can hold agents with at `levels`. Containers are made of `image`.
pub(super) async fn machine(levels: Vec<SandboxLevel>, image: &str) -> Result<Vec<Able>, String> {
    let image = image.to_owned();
    let asking = tokio::task::spawn_blocking(move || {
        let levels = abilities(&levels, &image).into_iter();
        levels
            .map(|ability| (ability.level, ability.state.map_err(|why| why.to_string())))
            .collect()
    });
    asking
        .await
        .map_err(|error| format!("failed to see what this machine can hold agents with: {error}"))
}

/// The image that the run's containers are made of, by its id, so that all of them are made of the same; by its name where the
/// engine does not tell, which every attempt will then say.
pub(super) async fn pinned_image(
    config: &Config,
    sandboxes: &BTreeMap<String, SandboxLevel>,
    machine: &[Able],
) -> Option<String> {
    if !sandboxes.values().any(|level| *level == SandboxLevel::Container) {
        return None;
    }
    let name = config.run.sandbox.image().to_owned();
    let there = machine
        .iter()
        .any(|(level, state)| *level == SandboxLevel::Container && state.is_ok());
    if !there {
        return Some(name);
    }
    let asked = name.clone();
    let id = tokio::task::spawn_blocking(move || image_id(&asked)).await;
    Some(id.ok().flatten().unwrap_or(name))
}

/// The agents whose level the machine does not have, with the reason and what would help.
pub(super) fn without_sandbox(
    config: &Config,
    sandboxes: &BTreeMap<String, SandboxLevel>,
    machine: &[Able],
) -> Vec<String> {
    let agents = config.run.agents.iter();
    agents
        .filter_map(|agent| {
            let level = sandboxes.get(&agent.name)?;
            let (_, state) = machine.iter().find(|(known, _)| known == level)?;
            let why = state.as_ref().err()?;
            Some(format!(
                "agent {}: the sandbox {level} cannot be set up on this machine: {why}",
                agent.name
            ))
        })
        .collect()
}

/// What a reader has to know of the agents' sandboxes that can be set up; nothing of an agent without tools of its own in `process`.
pub(super) fn about_sandboxes(
    config: &Config,
    sandboxes: &BTreeMap<String, SandboxLevel>,
    machine: &[Able],
) -> Vec<String> {
    let mut notices = Vec::new();
    for agent in &config.run.agents {
        let Some(&level) = sandboxes.get(&agent.name) else {
            continue;
        };
        let state = machine
            .iter()
            .find(|(known, _)| *known == level)
            .map(|(_, state)| state);
        match state {
            _ if level == SandboxLevel::Process => {
                if agent.builtin_tools == BuiltinTools::Default {
                    notices.push(format!(
                        "agent {}: its own tools are not confined (sandbox process)",
                        agent.name
                    ));
                }
            }
            // It is told as what it is: see `without_sandbox`.
            Some(Err(_)) => {}
            Some(Ok(what)) => notices.push(format!("agent {}: sandbox {level} ({what})", agent.name)),
            None => notices.push(format!("agent {}: sandbox {level}", agent.name)),
        }
    }
    let levels: std::collections::BTreeSet<SandboxLevel> = sandboxes.values().copied().collect();
    if let Some(image) = &config.run.sandbox.image
        && !levels.contains(&SandboxLevel::Container)
    {
        notices.push(format!(
            "run.sandbox.image: {image} is not used, because no agent is held in a container on this machine"
        ));
    }
    for level in levels {
        let resources = config.run.sandbox.resources.at(level);
        let open = not_enforced(level, config.run.sandbox.image(), &resources);
        notices.extend(open.into_iter().map(|what| format!("sandbox {level}: {what}")));
    }
    notices
}
