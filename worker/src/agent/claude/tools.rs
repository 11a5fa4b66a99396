//! What Claude Code's uses of tools, and their results, say.

use mcproctor_proto::turn::{Escape, EscapeKind};
use serde_json::Value;

use crate::agent::escape::{escape, shorten};

/// Tools that only serve the MCP binding.
const BINDING_TOOLS: [&str; 4] = [
    "ToolSearch",
    "WaitForMcpServers",
    "ListMcpResourcesTool",
    "ReadMcpResourceTool",
];

/// How Claude Code names the tools of a server: what is not a letter, a digit, `_` or `-` becomes `_`.
pub(super) fn prefix(server: &str) -> String {
    let name: String = server
        .chars()
        .map(|c| {
            if c.is_ascii_alphanumeric() || "_-".contains(c) {
                c
            } else {
                '_'
            }
        })
        .collect();
    format!("mcp__{name}")
}

/// How Claude Code shortened a tool result before it showed it to the model, if it did.
pub(super) fn shortened(content: &Value) -> Option<String> {
    let text = match content {
        Value::String(text) => text.as_str(),
        Value::Array(blocks) => blocks
            .iter()
            .filter_map(|block| block.get("text")?.as_str())
            .next_back()?,
        _ => return None,
    };
    if text.starts_with("<persisted-output>") || text.contains("Output too large") {
        let line = text
            .lines()
            .find(|line| line.contains("too large"))
            .unwrap_or("Output too large");
        // The rest of the line is a path inside the sandbox.
        Some(shorten(line.split(". Full").next().unwrap_or(line), 200))
    } else if text.contains("[OUTPUT TRUNCATED") || text.contains("exceeds maximum allowed tokens") {
        Some("the result was cut for its size".to_owned())
    } else {
        None
    }
}

/// The escape that a use of this tool is, if it is one.
pub(super) fn escape_of(name: &str, input: &Value, turn: u32) -> Option<Escape> {
    if BINDING_TOOLS.contains(&name) {
        return None;
    }
    let field = |keys: &[&str]| keys.iter().find_map(|key| input.get(key)?.as_str());
    let (kind, what) = match name {
        "Bash" | "BashOutput" | "PowerShell" | "KillShell" | "Monitor" => (EscapeKind::Shell, field(&["command"])),
        "WebFetch" | "WebSearch" | "web_search" | "web_fetch" => (EscapeKind::Web, field(&["url", "query"])),
        "Read" | "Write" | "Edit" | "MultiEdit" | "NotebookEdit" | "NotebookRead" | "Glob" | "Grep" | "LS" => (
            EscapeKind::File,
            field(&["file_path", "notebook_path", "pattern", "path"]),
        ),
        _ if name.starts_with("mcp__") => (EscapeKind::OtherServer, None),
        _ => (EscapeKind::OtherTool, field(&["description", "skill", "subject"])),
    };
    let what = match what {
        Some(what) => format!("{name}: {what}"),
        None => name.to_owned(),
    };
    Some(escape(kind, &what, turn))
}
