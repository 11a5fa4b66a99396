//! Whether the gateway of a run lets its agents in: asked before anything costs money, without asking a model.

use std::collections::BTreeMap;

use mcproctor_proto::agent::Agent;
use mcproctor_proto::id::{AttemptId, Lease, RunId};
use mcproctor_proto::lease_token::Claims;
use mcproctor_worker::relay::{LetIn, NotLetIn, ask_gateway};

use super::exit::Exit;
use crate::clock::Clock;
use crate::config::{Config, GatewayAccess};
use crate::outcome::remedies;

/// How long a token for the question is good, in seconds: clocks of coordinator and gateway may differ by ten minutes.
const TOKEN_SECONDS: u64 = 600;

/// Why agents could not reach their models, with the exit code that it leads to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ShutOut {
    pub(super) exit: Exit,
    pub(super) message: String,
}

/// What the gateway says of each of its entries that the agents need, in words; nothing without a gateway. Where it cannot be
/// reached at all that is said once.
pub(super) async fn ask_the_gateway(config: &Config, clock: &dyn Clock) -> Vec<Result<String, ShutOut>> {
    let Some(gateway) = &config.run.gateway else {
        return Vec::new();
    };
    let mut entries: BTreeMap<&str, Vec<&Agent>> = BTreeMap::new();
    for agent in &config.run.agents {
        if let Some(entry) = gateway.models.get(&agent.name) {
            entries.entry(entry).or_default().push(agent);
        }
    }
    let mut answers = Vec::new();
    for (entry, agents) in entries {
        let token = gateway.token_key.sign(&Claims {
            run: RunId::new("check"),
            lease: Lease {
                attempt: AttemptId::new("check"),
                epoch: 0,
            },
            model: entry.to_owned(),
            // It is good for nothing but the question.
            tokens: Some(0),
            cost: None,
            expires_at_unix_s: clock.now_unix_s().saturating_add(TOKEN_SECONDS),
        });
        match ask_gateway(&gateway.url, gateway.ca_pem.as_deref(), &token).await {
            Ok(let_in) => answers.extend(about_entry(gateway, entry, &agents, &let_in)),
            Err(error) => {
                let of_all = !matches!(error, NotLetIn::Entry(_));
                answers.push(Err(shut_out(gateway, &agents, &error)));
                if of_all {
                    break;
                }
            }
        }
    }
    answers
}

fn about_entry(
    gateway: &GatewayAccess,
    entry: &str,
    agents: &[&Agent],
    let_in: &LetIn,
) -> Vec<Result<String, ShutOut>> {
    let (fitting, others): (Vec<&Agent>, Vec<&Agent>) = agents
        .iter()
        .copied()
        .partition(|agent| agent.dialect() == Some(let_in.api));
    let mut answers = Vec::new();
    if !fitting.is_empty() {
        answers.push(Ok(format!(
            "gateway {}: lets {} in, to its model entry {entry}",
            gateway.url,
            names(&fitting)
        )));
    }
    for agent in others {
        let wanted = agent.dialect().map_or("none", |dialect| dialect.name());
        answers.push(Err(ShutOut {
            exit: Exit::Usage,
            message: format!(
                "the agent {} speaks the API `{wanted}`, and the model entry `{entry}` of the gateway at {} speaks `{}`; {}",
                agent.name,
                gateway.url,
                let_in.api.name(),
                remedies::GATEWAY_ENTRY
            ),
        }));
    }
    if let Some(why) = &let_in.limit_reached {
        answers.push(Err(ShutOut {
            exit: Exit::Limit,
            message: format!("the gateway at {} asks no model any more: {why}", gateway.url),
        }));
    }
    answers
}

fn shut_out(gateway: &GatewayAccess, agents: &[&Agent], error: &NotLetIn) -> ShutOut {
    let url = &gateway.url;
    let (exit, message) = match error {
        NotLetIn::NoWay(why) => (Exit::Usage, format!("failed to {why}; check run.gateway")),
        NotLetIn::Unreachable(why) => (
            Exit::Failure,
            format!(
                "the gateway at {url} cannot be reached: {why}; {}",
                remedies::gateway_way(why)
            ),
        ),
        NotLetIn::NoGateway(_) => (
            Exit::Failure,
            format!("what is at {url} is no gateway: {error}; check run.gateway.url"),
        ),
        NotLetIn::Token(why) => (
            Exit::Failure,
            format!(
                "the gateway at {url} takes no token of this run: {why}; {}",
                remedies::GATEWAY_TOKEN
            ),
        ),
        NotLetIn::Entry(why) => (
            Exit::Usage,
            format!("{why}, which {} asks for; {}", names(agents), remedies::GATEWAY_ENTRY),
        ),
    };
    ShutOut { exit, message }
}

/// The names of agents, as they stand in a sentence.
fn names(agents: &[&Agent]) -> String {
    let names: Vec<&str> = agents.iter().map(|agent| agent.name.as_str()).collect();
    names.join(", ")
}
