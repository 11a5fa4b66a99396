//! Rules about names and descriptions.

use super::finding::{Consumer, Finding, Severity, ToolShape, at};

/// The findings about one tool's name and description.
pub(super) fn check(tool: &ToolShape, server_name: &str) -> Vec<Finding> {
    let mut findings = characters(&tool.name);
    findings.extend(length(&tool.name, server_name));
    if tool.name.contains("__") {
        findings.push(at(
            Severity::Warning,
            "/name",
            "the name holds `__`, which Claude Code uses between server and tool; some versions did not find such tools",
            &[Consumer::ClaudeCode],
            "https://github.com/anthropics/claude-code/issues/44349",
        ));
    }
    findings.extend(description(tool.description.as_deref().unwrap_or_default()));
    findings
}

/// The name as agents rename it for the model APIs, which take letters, digits, `_` and `-`.
pub(super) fn normalized(name: &str) -> String {
    name.chars()
        .map(|c| {
            if c.is_ascii_alphanumeric() || matches!(c, '_' | '-') {
                c
            } else {
                '_'
            }
        })
        .collect()
}

fn characters(name: &str) -> Vec<Finding> {
    const BOTH: &[Consumer] = &[Consumer::Anthropic, Consumer::OpenAi];
    const SOURCE: &str = "https://github.com/anthropics/claude-code/issues/467";
    if name.is_empty() {
        return vec![at(Severity::Error, "/name", "the name is empty", BOTH, SOURCE)];
    }
    match name
        .chars()
        .find(|c| !c.is_ascii_alphanumeric() && !matches!(c, '_' | '-'))
    {
        None => Vec::new(),
        Some(other) => vec![at(
            Severity::Warning,
            "/name",
            format!(
                "the name holds {other:?}; model APIs take only letters, digits, `_` and `-`, so agents rename the tool"
            ),
            BOTH,
            SOURCE,
        )],
    }
}

/// The API takes 128 characters in a definition and 64 in a reference to one, which is what tool search answers with.
fn length(name: &str, server_name: &str) -> Vec<Finding> {
    let full = format!("mcp__{}__{}", normalized(server_name), normalized(name));
    let mut findings = Vec::new();
    if full.len() > 128 {
        findings.push(at(
            Severity::Error,
            "/name",
            format!(
                "as `{full}` the name has {} characters, and the Anthropic API takes 128",
                full.len()
            ),
            &[Consumer::ClaudeCode],
            "https://github.com/anthropics/claude-code/issues/16425",
        ));
    } else if full.len() > 64 {
        findings.push(at(
            Severity::Warning,
            "/name",
            format!(
                "as `{full}` the name has {} characters; with tool search, requests that find it are refused beyond 64",
                full.len()
            ),
            &[Consumer::ClaudeCode],
            "https://github.com/anthropics/claude-code/issues/19882",
        ));
    }
    if name.chars().count() > 64 {
        findings.push(at(
            Severity::Error,
            "/name",
            format!(
                "the name has {} characters, and OpenAI's function names have at most 64",
                name.chars().count()
            ),
            &[Consumer::OpenAi],
            "https://platform.openai.com/docs/api-reference/chat/create",
        ));
    }
    findings
}

fn description(description: &str) -> Vec<Finding> {
    // Both count as JavaScript does.
    let length = description.encode_utf16().count();
    let mut findings = Vec::new();
    if length > 2048 {
        findings.push(at(
            Severity::Warning,
            "/description",
            format!("the description has {length} characters; Claude Code cuts it at 2048 without saying so"),
            &[Consumer::ClaudeCode],
            "https://github.com/anthropics/claude-code/issues/41593",
        ));
    }
    if length > 1024 {
        findings.push(at(
            Severity::Warning,
            "/description",
            format!(
                "the description has {length} characters; some OpenAI models refuse more than 1024 in Chat Completions"
            ),
            &[Consumer::OpenAi],
            "https://github.com/getsentry/sentry-mcp/issues/106",
        ));
    }
    findings
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn found(name: &str, description: usize) -> Vec<(Severity, String, &'static [Consumer])> {
        let tool = ToolShape {
            name: name.to_owned(),
            description: Some("d".repeat(description)),
            input_schema: json!({"type": "object"}),
        };
        check(&tool, "mcp-under-test")
            .into_iter()
            .map(|found| (found.severity, found.path, found.agents))
            .collect()
    }

    #[test]
    fn ordinary_names_and_descriptions_pass() {
        assert_eq!(found("get-forecast_2", 1024), []);
    }

    #[test]
    fn the_prefix_counts_towards_the_length() {
        let name = |length| "n".repeat(length);
        let prefix = "mcp__mcp-under-test__".len();
        let claude: &[Consumer] = &[Consumer::ClaudeCode];
        assert_eq!(found(&name(64 - prefix), 0), []);
        assert_eq!(
            found(&name(65 - prefix), 0),
            [(Severity::Warning, "/name".to_owned(), claude)]
        );
        assert_eq!(
            found(&name(129 - prefix), 0)[0],
            (Severity::Error, "/name".to_owned(), claude)
        );
        let open_ai: &[Consumer] = &[Consumer::OpenAi];
        assert_eq!(found(&name(65), 0)[1], (Severity::Error, "/name".to_owned(), open_ai));
    }

    #[test]
    fn foreign_characters_and_double_underscores_are_found() {
        assert_eq!(found("files.read", 0)[0].0, Severity::Warning);
        assert_eq!(found("größe", 0)[0].0, Severity::Warning);
        assert_eq!(found("", 0)[0].0, Severity::Error);
        assert_eq!(found("files__read", 0)[0].2, [Consumer::ClaudeCode]);
    }

    #[test]
    fn long_descriptions_are_found_for_those_who_cut_or_refuse_them() {
        assert_eq!(found("a", 1025).len(), 1);
        assert_eq!(found("a", 2049).len(), 2);
    }
}
