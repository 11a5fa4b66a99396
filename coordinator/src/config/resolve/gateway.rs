//! How the agents of a run reach their models through a gateway.

use std::collections::BTreeMap;

use mcproctor_proto::agent::{Agent, Credential, Dialect};
use mcproctor_proto::lease_token::TokenKey;
use secrecy::SecretString;
use url::{Host, Url};

use super::context::{Context, http_url};
use super::mcp::read_ca;
use crate::config::file::{AgentEntry, AgentSection, GatewaySection};
use crate::config::gateway::GatewayAccess;
use crate::yaml::{Problems, Text};

/// The gateway of a run, and what it changes about the agents: they have no key here, and its address is that of their API.
pub(super) fn resolve_gateway(
    section: &GatewaySection,
    entries: &[AgentEntry],
    agents: &mut [Agent],
    context: &Context<'_>,
    problems: &mut Problems,
) -> Option<GatewayAccess> {
    let url = section.url.as_ref().and_then(|text| resolve_url(text, problems));
    let token_key = section
        .token_key
        .as_ref()
        .and_then(|text| resolve_token_key(text, problems));
    let ca_pem = section.ca_file.as_ref().map(|text| read_ca(text, context, problems));
    let url = url?;
    let mut models = BTreeMap::new();
    for agent in agents {
        let written = section_of(entries, &agent.name);
        let Some(api) = agent.dialect() else {
            if let Some(text) = written.and_then(|section| section.gateway_model.as_ref()) {
                let problem = text.problem(problems, "without `modelApi` the command asks no model");
                problems.add(problem.remedy("add `modelApi`, or remove the key"));
            }
            continue;
        };
        for text in written
            .into_iter()
            .flat_map(|section| [&section.api_key, &section.base_url])
            .flatten()
        {
            let problem = text.problem(
                problems,
                "with `run.gateway` keys and addresses of models are the gateway's",
            );
            problems.add(problem.remedy("move it into the gateway's config, under `models`"));
        }
        let entry = written
            .and_then(|section| section.gateway_model.as_ref())
            .map_or(api.name(), |text| &text.value);
        models.insert(agent.name.clone(), entry.to_owned());
        agent.base_url = Some(base_url(&url, api));
        agent.credential = Credential::None;
    }
    Some(GatewayAccess {
        url,
        token_key: token_key?,
        ca_pem: ca_pem.map_or(Some(None), |pem| pem.map(Some))?,
        models,
    })
}

/// `gatewayModel` without a gateway is a mistake.
pub(super) fn refuse_gateway_models(entries: &[AgentEntry], problems: &mut Problems) {
    for entry in entries {
        if let AgentEntry::Full(section) = entry
            && let Some(text) = &section.gateway_model
        {
            let problem = text.problem(problems, "the config has no `run.gateway`");
            problems.add(problem.remedy("add it, or remove the key"));
        }
    }
}

/// The key that coordinator and gateway share. It is not repeated.
pub(super) fn resolve_token_key(text: &Text, problems: &mut Problems) -> Option<TokenKey> {
    match TokenKey::new(SecretString::from(text.value.clone())) {
        Ok(key) => Some(key),
        Err(short) => {
            let problem = text.problem(problems, short.to_string());
            problems.add(problem.remedy("make one with `openssl rand -hex 32`, and give it to both sides"));
            None
        }
    }
}

fn resolve_url(text: &Text, problems: &mut Problems) -> Option<Url> {
    let url = http_url(text, problems)?;
    let what = if url.query().is_some() || url.fragment().is_some() {
        "the URL has a `?…` or `#…`, which a gateway has not"
    } else if url.scheme() == "http" && !is_loopback(&url) {
        "tokens would go to another machine in the clear"
    } else if url.path().trim_end_matches('/').ends_with("/v1") {
        "the URL ends with `/v1`, which relays add where their API has it"
    } else {
        return Some(url);
    };
    let accepted = "`https://HOST:PORT`, without `/v1`; `http://` only to this machine";
    problems.add(text.problem(problems, what).accepted(accepted));
    None
}

fn is_loopback(url: &Url) -> bool {
    match url.host() {
        Some(Host::Domain(name)) => name.eq_ignore_ascii_case("localhost"),
        Some(Host::Ipv4(ip)) => ip.is_loopback(),
        Some(Host::Ipv6(ip)) => ip.is_loopback(),
        None => false,
    }
}

/// The gateway's address as an API of that kind has it.
fn base_url(url: &Url, api: Dialect) -> String {
    let base = url.as_str().trim_end_matches('/');
    match api {
        Dialect::Anthropic => base.to_owned(),
        Dialect::OpenAi => format!("{base}/v1"),
    }
}

fn section_of<'a>(entries: &'a [AgentEntry], name: &str) -> Option<&'a AgentSection> {
    entries.iter().find_map(|entry| match entry {
        AgentEntry::Full(section) => (section.shown_name() == name).then_some(section.as_ref()),
        AgentEntry::Named(_) => None,
    })
}
