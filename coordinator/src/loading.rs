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
    // Claude Code looks at the address of its API for it, and keeps its search for its maker's.
    let (by_itself, where_it_does) = match (agent.kind, agent.builtin_tools) {
        (AgentKind::Claude, BuiltinTools::None) => (ToolLoading::Upfront, "without its own tools"),
        (AgentKind::Claude, BuiltinTools::Default) if agent.asks_its_maker() => {
            (ToolLoading::Deferred, "with its own tools, at its maker's API")
        }
        (AgentKind::Claude, BuiltinTools::Default) => (ToolLoading::Upfront, "at another API than its maker's"),
        (AgentKind::Codex | AgentKind::Command, _) => return None,
    };
    let asked = agent.tool_loading.filter(|asked| *asked != by_itself)?;
    let name = &agent.name;
    Some(match asked {
        ToolLoading::Upfront => format!(
            "agent {name}: tool definitions are sent up front (toolLoading: upfront); {where_it_does} claude by itself defers them and \
             finds them through its search"
        ),
        ToolLoading::Deferred => format!(
            "agent {name}: tool definitions are found through claude's search (toolLoading: deferred); {where_it_does} claude by itself \
             sends them up front"
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
mod tests {
    #![allow(clippy::unwrap_used)]

    use mcproctor_proto::assignment::SandboxLevel;

    use super::*;

    fn seen(kind: AgentKind, sent: &[&str], deferred: &[&str]) -> Loading {
        let owned = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect();
        in_effect(
            kind,
            &ModelTraffic {
                observed: true,
                tools_sent: owned(sent),
                tools_deferred: owned(deferred),
                ..ModelTraffic::default()
            },
        )
    }

    /// Lists as the relay has them of claude 2.1 and codex 0.171.
    #[test]
    fn the_real_agents_lists_say_how_tools_were_loaded() {
        use AgentKind::{Claude, Codex, Command};
        use Loading::{Deferred, Unknown, Upfront};
        let found = "mcp__s__a";
        for (kind, sent, deferred, expected) in [
            (Claude, &["Bash", "mcp__s__a"][..], &[][..], Upfront),
            (Claude, &["ToolSearch"], &[], Deferred),
            (Claude, &["Bash", "ToolSearch", found], &[found], Deferred),
            (Claude, &["ToolSearch", found], &[found, "mcp__s__b"], Deferred),
            (Claude, &["ToolSearch", "mcp__s__b"], &[found], Upfront),
            (Claude, &["Bash"], &[], Unknown),
            (Claude, &[], &[], Unknown),
            (Codex, &["view_image", "mcp__s.a"], &[], Upfront),
            (Codex, &["request_user_input", "tool_search"], &[], Deferred),
            (Codex, &["mcp__s.a", "tool_search"], &["mcp__s.a"], Deferred),
            (Codex, &["functions.exec", "functions.wait"], &[], Unknown),
            (Command, &["a"], &[], Upfront),
            (Command, &["tool_search"], &["a"], Deferred),
            (Command, &[], &[], Unknown),
        ] {
            assert_eq!(seen(kind, sent, deferred), expected, "{kind} {sent:?} {deferred:?}");
        }
    }

    #[test]
    fn without_a_relay_nobody_can_tell() {
        assert_eq!(in_effect(AgentKind::Claude, &ModelTraffic::default()), Loading::Unknown);
    }

    fn claude(builtin_tools: BuiltinTools, asked: ToolLoading, base_url: Option<&str>) -> Agent {
        Agent {
            name: "mine".to_owned(),
            kind: AgentKind::Claude,
            model: None,
            args: Vec::new(),
            env: std::collections::BTreeMap::new(),
            builtin_tools,
            tool_loading: Some(asked),
            base_url: base_url.map(str::to_owned),
            credential: mcproctor_proto::agent::Credential::None,
            command: None,
        }
    }

    #[test]
    fn what_is_said_before_a_run_holds_for_the_api_that_the_agent_asks() {
        use ToolLoading::{Deferred, Upfront};
        let own = Some("https://api.anthropic.com");
        let gateway = Some("https://gateway.example:8484");
        let deferred = "agent mine: tool definitions are found through claude's search (toolLoading: deferred); ";
        for (tools, asked, address, said) in [
            (BuiltinTools::Default, Deferred, None, None),
            (BuiltinTools::Default, Deferred, own, None),
            (
                BuiltinTools::Default,
                Deferred,
                gateway,
                Some(format!(
                    "{deferred}at another API than its maker's claude by itself sends them up front"
                )),
            ),
            (BuiltinTools::Default, Upfront, gateway, None),
            (
                BuiltinTools::Default,
                Upfront,
                own,
                Some(
                    "agent mine: tool definitions are sent up front (toolLoading: upfront); with its own tools, at its maker's API claude \
                     by itself defers them and finds them through its search"
                        .to_owned(),
                ),
            ),
            (BuiltinTools::None, Upfront, None, None),
            (
                BuiltinTools::None,
                Deferred,
                gateway,
                Some(format!("{deferred}without its own tools claude by itself sends them up front")),
            ),
        ] {
            assert_eq!(notice(&claude(tools, asked, address)), said, "{tools:?} {asked:?} {address:?}");
        }
    }

    #[test]
    fn only_what_was_asked_for_and_is_otherwise_surprises() {
        let agent = |asked: Option<ToolLoading>| AgentRecord {
            name: "mine".to_owned(),
            kind: "claude".to_owned(),
            model: None,
            version: None,
            sandbox: SandboxLevel::Process,
            image: None,
            builtin_tools: "none".to_owned(),
            tool_loading: asked,
            own_login: false,
            price: None,
        };
        let deferred = agent(Some(ToolLoading::Deferred));
        assert_eq!(
            surprise(&deferred, Loading::Upfront).unwrap_or_default(),
            "agent mine: `toolLoading: deferred` was asked for, but tool definitions were seen to be sent up front"
        );
        for (agent, seen) in [
            (&deferred, Loading::Deferred),
            (&deferred, Loading::Unknown),
            (&agent(None), Loading::Upfront),
        ] {
            assert_eq!(surprise(agent, seen), None);
        }
    }

    /// A record of an earlier version says nothing of it.
    #[test]
    fn a_record_without_it_is_read() {
        let record = serde_json::json!({
            "name": "a", "kind": "claude", "model": null, "version": null, "sandbox": "process", "builtinTools": "none",
            "ownLogin": false,
        });
        let record: AgentRecord = serde_json::from_value(record).unwrap();
        assert_eq!(record.tool_loading, None);
    }
}
