//! Rules about the whole list, and all rules over all tools.

use std::collections::BTreeMap;

use super::finding::{Consumer, Finding, Severity, ToolShape, at};
use super::{name, schema};

/// How many tools OpenAI takes in one request.
const TOOLS: usize = 128;

/// Everything that is found in a server's tools; `server_name` is the one in the config, which becomes part of the names
/// that models see. Whole-list findings come first, then tool by tool in the server's order.
pub fn findings(tools: &[ToolShape], server_name: &str) -> Vec<Finding> {
    let mut findings = Vec::new();
    if tools.len() > TOOLS {
        findings.push(at(
            Severity::Error,
            "",
            format!(
                "the server has {} tools, and OpenAI takes {TOOLS} in one request",
                tools.len()
            ),
            &[Consumer::OpenAi],
            "https://github.com/zed-industries/zed/issues/32946",
        ));
    }
    let duplicates = duplicates(tools);
    for (at, tool) in tools.iter().enumerate() {
        let of_tool = duplicates.get(&at).cloned().into_iter();
        let of_tool = of_tool
            .chain(name::check(tool, server_name))
            .chain(schema::check(&tool.input_schema));
        findings.extend(of_tool.map(|finding| Finding {
            tool: Some(tool.name.clone()),
            ..finding
        }));
    }
    findings
}

/// Names that another tool before has, as they are or as agents rename them; by place in the list.
fn duplicates(tools: &[ToolShape]) -> BTreeMap<usize, Finding> {
    let mut seen: BTreeMap<String, &str> = BTreeMap::new();
    let mut found = BTreeMap::new();
    for (place, tool) in tools.iter().enumerate() {
        let Some(first) = seen.get(&name::normalized(&tool.name)) else {
            seen.insert(name::normalized(&tool.name), &tool.name);
            continue;
        };
        let finding = if *first == tool.name {
            at(
                Severity::Error,
                "/name",
                "another tool has the same name: agents offer only the first, and the Anthropic API refuses both together",
                &[Consumer::ClaudeCode, Consumer::Anthropic],
                "https://github.com/onyx-dot-app/onyx/issues/9229",
            )
        } else {
            at(
                Severity::Error,
                "/name",
                format!(
                    "renamed for model APIs, the name is the same as that of `{first}`: Claude Code offers only one"
                ),
                &[Consumer::ClaudeCode],
                "https://github.com/openai/openai-agents-js/issues/1934",
            )
        };
        found.insert(place, finding);
    }
    found
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn tools(names: &[&str]) -> Vec<ToolShape> {
        let tool = |name: &&str| ToolShape {
            name: (*name).to_owned(),
            description: None,
            input_schema: json!({"type": "object"}),
        };
        names.iter().map(tool).collect()
    }

    #[test]
    fn a_name_that_another_tool_has_is_found_as_it_is_and_as_it_is_renamed() {
        let found = findings(&tools(&["a", "b-c", "a", "b.c", "b_c"]), "s");
        let duplicates: Vec<(Option<&str>, Severity)> = found
            .iter()
            .filter(|finding| finding.source.contains("onyx") || finding.source.contains("agents-js"))
            .map(|finding| (finding.tool.as_deref(), finding.severity))
            .collect();
        assert_eq!(
            duplicates,
            [(Some("a"), Severity::Error), (Some("b_c"), Severity::Error)]
        );
    }

    #[test]
    fn more_tools_than_a_request_takes_are_found_once() {
        let names: Vec<String> = (0..129).map(|number| format!("tool{number}")).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        assert_eq!(findings(&tools(&names[..128]), "s"), []);
        let found = findings(&tools(&names), "s");
        assert_eq!((found.len(), &found[0].tool, found[0].path.as_str()), (1, &None, ""));
    }

    #[test]
    fn every_finding_names_its_tool_and_an_https_source() {
        let mut all = tools(&["a__b", "x y"]);
        all[0].input_schema = json!({"anyOf": []});
        all[1].description = Some("d".repeat(3000));
        let found = findings(&all, "s");
        assert!(found.len() >= 5, "{found:?}");
        for finding in found {
            assert!(
                finding.tool.is_some() && finding.source.starts_with("https://"),
                "{finding:?}"
            );
            assert!(
                !finding.agents.is_empty() && finding.path.starts_with('/'),
                "{finding:?}"
            );
        }
    }
}
