//! How definitions of the servers' tools reached a model: whole, or through the agent's own search for them.

use mcproctor_proto::agent::{Agent, AgentKind, BuiltinTools, ToolLoading};
use mcproctor_proto::traffic::ModelTraffic;
use serde::Serialize;

use crate::record::AgentRecord;

/// What was in effect over an attempt, as the relay saw it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Loading {
    /// Definitions were sent before the model asked for them.
    Upfront,
    /// The model was given a search, and no definition that it had not found.
    Deferred,
    /// Nobody can tell: no relay was in the path, no request was answered, there is no tool, or the model calls tools from
    /// scripts, which find them by themselves.
    Unknown,
}

impl Loading {
    /// The word of configs and records.
    pub fn name(self) -> &'static str {
        match self {
            Self::Upfront => "upfront",
            Self::Deferred => "deferred",
            Self::Unknown => "unknown",
        }
    }

    /// In words for people.
    pub fn words(self) -> &'static str {
        match self {
            Self::Upfront => "up front",
            Self::Deferred => "deferred",
            Self::Unknown => "unknown",
        }
    }
}

impl From<ToolLoading> for Loading {
    fn from(asked: ToolLoading) -> Self {
        match asked {
            ToolLoading::Upfront => Self::Upfront,
            ToolLoading::Deferred => Self::Deferred,
        }
    }
}

/// How the tools that claude and codex were given by MCP servers begin.
const OF_A_SERVER: &str = "mcp__";

/// The searches of claude and codex.
const SEARCHES: [&str; 2] = ["ToolSearch", "tool_search"];

/// How tools reached the model of an agent of this kind.
///
/// What was found is sent as well, marked as a tool that had to be found: it is in both lists.
pub fn in_effect(kind: AgentKind, traffic: &ModelTraffic) -> Loading {
    if !traffic.observed {
        return Loading::Unknown;
    }
    let (sent, deferred) = (&traffic.tools_sent, &traffic.tools_deferred);
    let of_a_server = |name: &&String| kind == AgentKind::Command || name.starts_with(OF_A_SERVER);
    let searches = sent.iter().any(|name| SEARCHES.contains(&name.as_str()));
    let mut whole = sent
        .iter()
        .filter(of_a_server)
        .filter(|name| !deferred.contains(name) && !SEARCHES.contains(&name.as_str()));
    if whole.next().is_some() {
        Loading::Upfront
    } else if searches || deferred.iter().any(|name| of_a_server(&name)) {
        Loading::Deferred
    } else {
        Loading::Unknown
    }
}

/// What to say before the run of an agent that is to load tools otherwise than it does by itself.
pub fn notice(agent: &Agent) -> Option<String> {
    let by_itself = match (agent.kind, agent.builtin_tools) {
        (AgentKind::Claude, BuiltinTools::Default) => ToolLoading::Deferred,
        (AgentKind::Claude, BuiltinTools::None) => ToolLoading::Upfront,
        (AgentKind::Codex | AgentKind::Command, _) => return None,
    };
    let asked = agent.tool_loading.filter(|asked| *asked != by_itself)?;
    let name = &agent.name;
    Some(match asked {
        ToolLoading::Upfront => format!(
            "agent {name}: tool definitions are sent up front (toolLoading: upfront); by itself claude defers them and finds them through its search"
        ),
        ToolLoading::Deferred => format!(
            "agent {name}: tool definitions are found through claude's search (toolLoading: deferred); without its own tools claude by itself sends them up front"
        ),
    })
}

/// What to say when an agent was seen to load tools otherwise than it was asked to.
pub fn surprise(agent: &AgentRecord, seen: Loading) -> Option<String> {
    let asked = agent.tool_loading.map(Loading::from)?;
    (seen != asked && seen != Loading::Unknown).then(|| {
        format!(
            "agent {}: `toolLoading: {}` was asked for, but tool definitions were seen to be {}",
            agent.name,
            asked.name(),
            match seen {
                Loading::Upfront => "sent up front",
                Loading::Deferred | Loading::Unknown => "deferred",
            }
        )
    })
}

#[cfg(test)]
mod tests;
