//! `run`: how often, with which agents, within which limits.

use super::agent::AgentEntry;
use super::gateway::GatewaySection;
use super::sandbox::SandboxSection;
use super::{limits, thresholds};
use crate::config::limit_places::LimitPlaces;
use crate::limits::Limits;
use crate::threshold::Thresholds;
use crate::yaml::{Fields, Item, Number, Problems};

/// The section.
#[derive(Default)]
pub(in crate::config) struct RunSection {
    pub(in crate::config) iterations: Option<Number>,
    /// `None` when neither `agent` nor `agents` is given.
    pub(in crate::config) agents: Option<Vec<AgentEntry>>,
    pub(in crate::config) timeout_seconds: Option<Number>,
    pub(in crate::config) concurrency: Option<Number>,
    pub(in crate::config) max_attempts: Option<Number>,
    pub(in crate::config) seed: Option<Number>,
    pub(in crate::config) sandbox: Option<SandboxSection>,
    pub(in crate::config) thresholds: Option<Thresholds>,
    pub(in crate::config) limits: Option<(Limits, LimitPlaces)>,
    pub(in crate::config) gateway: Option<GatewaySection>,
}

impl RunSection {
    pub(super) fn read(item: &Item<'_>, problems: &mut Problems) -> Option<Self> {
        let mut fields = item.fields(problems)?;
        fields.later(&["until"]);
        let mut number = |key, problems: &mut Problems| fields.get(key).and_then(|item| item.number(problems));
        let iterations = number("iterations", problems);
        let timeout_seconds = number("timeoutSeconds", problems);
        let concurrency = number("concurrency", problems);
        let max_attempts = number("maxAttempts", problems);
        let seed = number("seed", problems);
        let agents = read_agents(&mut fields, problems);
        let sandbox = fields
            .get("sandbox")
            .and_then(|item| SandboxSection::read(&item, problems));
        let thresholds = fields
            .get("thresholds")
            .and_then(|item| thresholds::read(&item, problems));
        let limits = fields.get("limits").and_then(|item| limits::read(&item, problems));
        let gateway = fields
            .get("gateway")
            .and_then(|item| GatewaySection::read(&item, problems));
        fields.finish(problems);
        Some(Self {
            iterations,
            agents,
            timeout_seconds,
            concurrency,
            max_attempts,
            seed,
            sandbox,
            thresholds,
            limits,
            gateway,
        })
    }
}

fn read_agents(fields: &mut Fields<'_>, problems: &mut Problems) -> Option<Vec<AgentEntry>> {
    match (fields.get("agent"), fields.get("agents")) {
        (None, None) => None,
        (Some(agent), Some(_)) => {
            let problem = agent.problem(problems, "both `agent` and `agents` are given");
            problems.add(problem.remedy("keep `agents`; `agent` is its short form for a single one"));
            Some(Vec::new())
        }
        (Some(agent), None) => Some(AgentEntry::read(&agent, problems).into_iter().collect()),
        (None, Some(agents)) => {
            let Some(items) = agents.list(problems) else {
                return Some(Vec::new());
            };
            if items.is_empty() {
                let problem = agents.problem(problems, "the list is empty");
                problems.add(problem.remedy("name at least one agent, or leave the key out for claude"));
            }
            Some(
                items
                    .iter()
                    .filter_map(|item| AgentEntry::read(item, problems))
                    .collect(),
            )
        }
    }
}
