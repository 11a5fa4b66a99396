//! The agents of a run.

use std::collections::BTreeMap;

use mcproctor_proto::agent::{Agent, AgentKind, BuiltinTools};

use super::base_url;
use super::command::resolve_command;
use super::context::{Context, http_url};
use super::credential::credential;
use super::env::resolve_env;
use crate::config::file::{AgentEntry, AgentSection};
use crate::yaml::Problems;

/// The agents in the order of the file: claude when none is named, an entry that is repeated once. Those that go through a
/// gateway are given address and credential later.
pub(super) fn resolve_agents(
    entries: Option<&[AgentEntry]>,
    through_gateway: bool,
    context: &Context<'_>,
    problems: &mut Problems,
) -> Option<Vec<Agent>> {
    let Some(entries) = entries else {
        return Some(vec![named(AgentKind::Claude, through_gateway, context, problems)]);
    };
    let mut agents: Vec<Agent> = Vec::new();
    let mut kinds: Vec<AgentKind> = Vec::new();
    let mut complete = true;
    for entry in entries {
        match entry {
            AgentEntry::Named(kind) if kinds.contains(kind) => {}
            AgentEntry::Named(kind) => {
                kinds.push(*kind);
                // A mapping that took the name before is reported there.
                agents.push(named(*kind, through_gateway, context, problems));
            }
            AgentEntry::Full(section) => match resolve_agent(section, through_gateway, context, problems) {
                Some(agent) => agents.push(agent),
                None => complete = false,
            },
        }
    }
    complete &= refuse_same_names(entries, &agents, problems);
    complete.then_some(agents)
}

fn named(kind: AgentKind, through_gateway: bool, context: &Context<'_>, problems: &mut Problems) -> Agent {
    let base_url = if through_gateway {
        None
    } else {
        base_url::from_environment(kind, context.variables, problems)
    };
    Agent {
        name: kind.name().to_owned(),
        kind,
        model: None,
        args: Vec::new(),
        env: BTreeMap::new(),
        builtin_tools: BuiltinTools::default(),
        tool_loading: None,
        credential: credential(kind, None, base_url.is_some(), None, context.variables),
        base_url,
        command: None,
    }
}

fn resolve_agent(
    section: &AgentSection,
    through_gateway: bool,
    context: &Context<'_>,
    problems: &mut Problems,
) -> Option<Agent> {
    let name = match &section.name {
        Some(text) => {
            let valid = text.value.chars().count() <= 64
                && text.value.trim() == text.value
                && !text.value.contains(|c: char| c.is_control() || c == ',');
            if !valid {
                let problem = text.problem(problems, format!("`{}` cannot name an agent", text.shown));
                problems
                    .add(problem.accepted("up to 64 characters without commas, line breaks and spaces around them"));
            }
            valid.then(|| text.value.clone())
        }
        None => Some(section.kind.name().to_owned()),
    };
    let base_url = match &section.base_url {
        Some(text) => http_url(text, problems).map(|_| Some(text.value.clone())),
        None if through_gateway => Some(None),
        None => Some(base_url::from_environment(section.kind, context.variables, problems)),
    };
    let env = resolve_env(&section.env, problems);
    let command = section
        .command
        .as_ref()
        .map(|command| resolve_command(section, command, context, problems));
    let model_api = section.command.as_ref().and_then(|command| command.model_api);
    let base_url = base_url?;
    Some(Agent {
        name: name?,
        kind: section.kind,
        model: section.model.as_ref().map(|text| text.value.clone()),
        args: section.args.iter().map(|text| text.value.clone()).collect(),
        env: env?,
        builtin_tools: section.builtin_tools,
        tool_loading: section.tool_loading,
        credential: credential(
            section.kind,
            section.api_key.as_ref(),
            base_url.is_some(),
            model_api,
            context.variables,
        ),
        base_url,
        command: command.map_or(Some(None), |command| command.map(Some))?,
    })
}

/// Reports and `--agent` tell agents apart by name.
fn refuse_same_names(entries: &[AgentEntry], agents: &[Agent], problems: &mut Problems) -> bool {
    let mut unique = true;
    for entry in entries {
        let AgentEntry::Full(section) = entry else { continue };
        let name = section.shown_name();
        if agents.iter().filter(|agent| agent.name == name).count() > 1 {
            let (place, path) = match &section.name {
                Some(text) => (text.place, &text.path),
                None => (section.place, &section.path),
            };
            let problem = problems.new_problem("two agents have this name").at(place).key(path);
            problems.add(problem.remedy("give each agent a `name` of its own"));
            unique = false;
        }
    }
    unique
}
