//! Which offered tool a script means, and how it is called.

use crate::conversation::{OfferedTool, ToolKind};
use crate::javascript;
use crate::reply::Target;
use crate::scenario::{Arguments, ToolUse};
use crate::template::Template;
use serde_json::{Value, json};

/// Shell tools by name, and the argument that takes the command.
const SHELLS: [(&str, &str); 8] = [
    ("Bash", "command"),
    ("exec_command", "cmd"),
    ("shell_command", "command"),
    ("shell", "command"),
    ("bash", "command"),
    ("run_shell_command", "command"),
    ("run_command", "command"),
    ("execute_command", "command"),
];

/// A tool that is not offered.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Missing(String);

impl Missing {
    /// What the model says then.
    pub(crate) fn text(&self) -> String {
        format!("I cannot call {}: it is not offered to me.", self.0)
    }
}

/// How to do everything a turn wants done.
pub(crate) fn resolve(
    uses: &[ToolUse],
    offered: &[OfferedTool],
    template: &Template<'_>,
) -> Result<Vec<Target>, Missing> {
    let mut targets = Vec::new();
    let mut scripted: Vec<(String, Value)> = Vec::new();
    for tool_use in uses {
        let (name, target) = match tool_use {
            ToolUse::Call { name, arguments, force } => {
                let target = find(name, offered).map(|tool| function(tool, written(arguments, template)));
                let forced = || force.then(|| forced(name, written(arguments, template)));
                (name.as_str(), target.or_else(forced))
            }
            ToolUse::Shell(command) => ("shell", shell(&template.text(command), offered)),
        };
        match (target, script_tool(offered)) {
            (Some(target), _) => targets.push(target),
            (None, Some((_, _, description))) => scripted.push(script_call(tool_use, description, template)?),
            (None, None) => return Err(Missing(name.to_owned())),
        }
    }
    if let (false, Some((name, namespace, _))) = (scripted.is_empty(), script_tool(offered)) {
        let calls: Vec<_> = scripted
            .iter()
            .map(|(name, arguments)| (name.as_str(), arguments))
            .collect();
        let source = javascript::calls(&calls);
        targets.push(Target::JavaScript {
            name: name.to_owned(),
            namespace,
            source,
        });
    }
    Ok(targets)
}

/// A search for the turn's tools, where the agent offers to search for tools it holds back.
pub(crate) fn search(uses: &[ToolUse], offered: &[OfferedTool]) -> Option<Target> {
    let names = uses.iter().filter_map(|tool_use| match tool_use {
        ToolUse::Call { name, .. } => Some(name.as_str()),
        ToolUse::Shell(_) => None,
    });
    let mut names: Vec<_> = names.collect();
    names.dedup();
    let query = names.join(" ");
    offered.iter().find_map(|tool| match tool.kind {
        ToolKind::ToolSearch => Some(Target::ToolSearch { query: query.clone() }),
        ToolKind::Function if tool.name == "ToolSearch" => {
            Some(function(tool, json!({"query": query, "max_results": 20}).to_string()))
        }
        _ => None,
    })
}

/// The offered tool of that name, whatever the agent put before it.
fn find<'a>(name: &str, offered: &'a [OfferedTool]) -> Option<&'a OfferedTool> {
    let callable = |tool: &&OfferedTool| matches!(tool.kind, ToolKind::Function | ToolKind::Namespaced(_));
    let suffix = format!("__{name}");
    let mut tools = offered.iter().filter(callable);
    tools
        .clone()
        .find(|tool| tool.name == name)
        .or_else(|| tools.find(|tool| tool.name.ends_with(&suffix)))
}

fn function(tool: &OfferedTool, arguments: String) -> Target {
    let namespace = match &tool.kind {
        ToolKind::Namespaced(namespace) => Some(namespace.clone()),
        _ => None,
    };
    Target::Function {
        name: tool.name.clone(),
        namespace,
        arguments,
    }
}

fn forced(name: &str, arguments: String) -> Target {
    Target::Function {
        name: name.to_owned(),
        namespace: None,
        arguments,
    }
}

fn written(arguments: &Arguments, template: &Template<'_>) -> String {
    match arguments {
        Arguments::Object(value) => template.value(value).to_string(),
        Arguments::Raw(text) => text.clone(),
    }
}

fn shell(command: &str, offered: &[OfferedTool]) -> Option<Target> {
    if offered.iter().any(|tool| tool.kind == ToolKind::LocalShell) {
        return Some(Target::LocalShell {
            command: command.to_owned(),
        });
    }
    SHELLS.iter().find_map(|(name, key)| {
        let tool = offered
            .iter()
            .find(|tool| tool.name == *name && !matches!(tool.kind, ToolKind::JavaScript { .. }))?;
        // The plain `shell` tool of the Responses API takes a command line already split.
        let value = if *name == "shell" {
            json!(["bash", "-lc", command])
        } else {
            json!(command)
        };
        Some(function(tool, json!({ *key: value }).to_string()))
    })
}

/// Name, namespace and description of the JavaScript tool.
fn script_tool(offered: &[OfferedTool]) -> Option<(&str, Option<String>, &str)> {
    offered.iter().find_map(|tool| match &tool.kind {
        ToolKind::JavaScript { namespace, description } => {
            Some((tool.name.as_str(), namespace.clone(), description.as_str()))
        }
        _ => None,
    })
}

fn script_call(tool_use: &ToolUse, description: &str, template: &Template<'_>) -> Result<(String, Value), Missing> {
    match tool_use {
        // Arguments that are no JSON reach the tool as one string.
        ToolUse::Call {
            name,
            arguments: Arguments::Raw(text),
            ..
        } => Ok((name.clone(), json!(text))),
        ToolUse::Call {
            name,
            arguments: Arguments::Object(value),
            ..
        } => Ok((name.clone(), template.value(value))),
        ToolUse::Shell(command) => {
            let declared = |name: &str| description.contains(&format!("{name}(args"));
            let (name, key) = SHELLS
                .iter()
                .find(|(name, _)| declared(name))
                .ok_or_else(|| Missing("shell".to_owned()))?;
            Ok(((*name).to_owned(), json!({ *key: template.text(command) })))
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::panic, reason = "a failed step is a failed test")]
    use super::*;
    use crate::conversation::Conversation;
    use crate::scenario::Scenarios;

    fn resolved(uses: &[ToolUse], offered: &[(&str, ToolKind)]) -> Result<Vec<Target>, Missing> {
        let scenarios = Scenarios::from_yaml("scenarios: [{name: a, when: '', steps: [{answer: hi}]}]").unwrap();
        let conversation = Conversation::default();
        let tool = |(name, kind): &(&str, ToolKind)| OfferedTool {
            name: (*name).to_owned(),
            kind: kind.clone(),
        };
        let offered: Vec<_> = offered.iter().map(tool).collect();
        resolve(uses, &offered, &Template::new(&scenarios.list[0], &conversation))
    }

    fn call(name: &str) -> ToolUse {
        ToolUse::Call {
            name: name.to_owned(),
            arguments: Arguments::Object(json!({})),
            force: false,
        }
    }

    fn function(name: &str, namespace: Option<&str>, arguments: &str) -> Target {
        Target::Function {
            name: name.to_owned(),
            namespace: namespace.map(str::to_owned),
            arguments: arguments.to_owned(),
        }
    }

    #[test]
    fn a_tool_is_found_behind_the_prefix_of_any_agent() {
        let offered = [("relist", ToolKind::Function), ("mcp__a__b__list", ToolKind::Function)];
        assert_eq!(
            resolved(&[call("list")], &offered),
            Ok(vec![function("mcp__a__b__list", None, "{}")])
        );
        let offered = [("list", ToolKind::Namespaced("mcp__a".to_owned()))];
        assert_eq!(
            resolved(&[call("list")], &offered),
            Ok(vec![function("list", Some("mcp__a"), "{}")])
        );
    }

    #[test]
    fn a_tool_that_nobody_offers_is_said_and_not_called() {
        let missing = resolved(&[call("list")], &[]).unwrap_err();
        assert_eq!(missing.text(), "I cannot call list: it is not offered to me.");
    }

    #[test]
    fn the_shell_is_whichever_the_agent_offers() {
        let uses = [ToolUse::Shell("date".to_owned())];
        let bash = resolved(&uses, &[("Bash", ToolKind::Function)]);
        assert_eq!(bash, Ok(vec![function("Bash", None, r#"{"command":"date"}"#)]));
        let shell = resolved(&uses, &[("shell", ToolKind::Function)]);
        assert_eq!(
            shell,
            Ok(vec![function("shell", None, r#"{"command":["bash","-lc","date"]}"#)])
        );
        let local = resolved(&uses, &[("local_shell", ToolKind::LocalShell)]);
        assert_eq!(
            local,
            Ok(vec![Target::LocalShell {
                command: "date".to_owned()
            }])
        );
        assert!(resolved(&uses, &[("read_file", ToolKind::Function)]).is_err());
    }

    #[test]
    fn calls_inside_javascript_share_one_script() {
        let description = "declare const tools: { exec_command(args: {".to_owned();
        let offered = [(
            "exec",
            ToolKind::JavaScript {
                namespace: None,
                description,
            },
        )];
        let targets = resolved(&[call("list"), ToolUse::Shell("date".to_owned())], &offered).unwrap();
        let [Target::JavaScript { source, .. }] = targets.as_slice() else {
            panic!("one script: {targets:?}")
        };
        assert!(
            source.contains(r#"[["list",{}],["exec_command",{"cmd":"date"}]]"#),
            "{source}"
        );
    }
}
