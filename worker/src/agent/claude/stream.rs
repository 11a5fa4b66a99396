//! Reads what `claude --output-format stream-json` prints.

use std::collections::{BTreeMap, BTreeSet};

use mcproctor_proto::traffic::ModelRefusal;
use mcproctor_proto::turn::{Escape, EscapeKind, TurnEnding, Usage};
use serde::Deserialize;
use serde_json::Value;

use crate::agent::driver::{Exit, Reading, Seen};
use crate::agent::escape::{escape, shorten, tail};
use crate::agent::refusal;

/// Characters of standard error or of an error message that go into a detail.
const SHOWN: usize = 2_000;

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

/// One line of output, as far as it matters here.
#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Line {
    System(System),
    Assistant(Message),
    User(Message),
    Result(Box<Outcome>),
    #[serde(other)]
    Other,
}

#[derive(Deserialize)]
struct System {
    #[serde(default)]
    subtype: String,
    session_id: Option<String>,
    model: Option<String>,
    #[serde(default)]
    mcp_servers: Vec<Server>,
}

#[derive(Deserialize)]
struct Server {
    name: String,
    status: String,
}

#[derive(Deserialize)]
struct Message {
    message: Content,
    parent_tool_use_id: Option<String>,
}

#[derive(Deserialize)]
struct Content {
    #[serde(default)]
    content: Value,
    model: Option<String>,
}

#[derive(Deserialize)]
struct Outcome {
    #[serde(default)]
    is_error: bool,
    #[serde(default)]
    subtype: String,
    result: Option<String>,
    #[serde(default)]
    errors: Vec<Value>,
    api_error_status: Option<u16>,
    session_id: Option<String>,
    total_cost_usd: Option<f64>,
    usage: Option<Tokens>,
    #[serde(default)]
    permission_denials: Vec<Denial>,
}

#[derive(Deserialize)]
struct Tokens {
    input_tokens: Option<u64>,
    cache_creation_input_tokens: Option<u64>,
    cache_read_input_tokens: Option<u64>,
    output_tokens: Option<u64>,
}

#[derive(Deserialize)]
struct Denial {
    #[serde(default)]
    tool_name: String,
    #[serde(default)]
    tool_use_id: String,
}

/// What the lines of one turn said so far.
pub(super) struct Stream {
    turn: u32,
    prefixes: Vec<String>,
    session: Option<String>,
    model: Option<String>,
    last_text: String,
    /// The tools of the server under test that were asked for, by the id of the use.
    calls: BTreeMap<String, String>,
    seen_uses: BTreeSet<String>,
    escapes: Vec<(String, Escape)>,
    warnings: Vec<String>,
    broken_line: Option<String>,
    outcome: Option<Box<Outcome>>,
}

impl Stream {
    pub(super) fn new(servers: &[String], turn: u32) -> Self {
        Self {
            turn,
            prefixes: servers.iter().map(|name| format!("{}__", prefix(name))).collect(),
            session: None,
            model: None,
            last_text: String::new(),
            calls: BTreeMap::new(),
            seen_uses: BTreeSet::new(),
            escapes: Vec::new(),
            warnings: Vec::new(),
            broken_line: None,
            outcome: None,
        }
    }

    pub(super) fn session(&self) -> Option<&str> {
        self.session.as_deref()
    }

    pub(super) fn line(&mut self, line: &[u8]) -> Vec<Seen> {
        if line.trim_ascii().is_empty() {
            return Vec::new();
        }
        match serde_json::from_slice(line) {
            Ok(line) => self.take(line),
            // A kind of line whose shape is not known is none of ours; a line that is no JSON at all was cut.
            Err(error) if error.is_data() => Vec::new(),
            Err(error) => {
                self.broken_line = Some(error.to_string());
                Vec::new()
            }
        }
    }

    fn take(&mut self, line: Line) -> Vec<Seen> {
        match line {
            Line::System(system) if system.subtype == "init" => {
                self.session = system.session_id.or(self.session.take());
                self.model = system.model.or(self.model.take());
                for server in system.mcp_servers.iter().filter(|server| server.status != "connected") {
                    self.warn(format!(
                        "MCP server `{}` was {} when the turn began",
                        server.name, server.status
                    ));
                }
                Vec::new()
            }
            Line::Assistant(message) => self.assistant(&message),
            Line::User(message) => {
                self.user(&message);
                Vec::new()
            }
            Line::Result(outcome) => {
                self.session = outcome.session_id.clone().or(self.session.take());
                self.outcome = Some(outcome);
                Vec::new()
            }
            Line::System(_) | Line::Other => Vec::new(),
        }
    }

    fn assistant(&mut self, message: &Message) -> Vec<Seen> {
        let own_words = message.parent_tool_use_id.is_none() && message.message.model.as_deref() != Some("<synthetic>");
        let mut seen = Vec::new();
        for block in message.message.content.as_array().into_iter().flatten() {
            let text = |key: &str| block.get(key).and_then(Value::as_str).unwrap_or_default();
            match text("type") {
                "text" if own_words && !text("text").trim().is_empty() => {
                    text("text").clone_into(&mut self.last_text);
                    seen.push(Seen::Text(text("text").to_owned()));
                }
                "tool_use" | "server_tool_use" | "mcp_tool_use" => {
                    let input = block.get("input").unwrap_or(&Value::Null);
                    seen.extend(self.tool_use(text("id"), text("name"), input).map(Seen::Escape));
                }
                _ => {}
            }
        }
        seen
    }

    fn tool_use(&mut self, id: &str, name: &str, input: &Value) -> Option<Escape> {
        if !id.is_empty() && !self.seen_uses.insert(id.to_owned()) {
            return None;
        }
        if self.prefixes.iter().any(|prefix| name.starts_with(prefix.as_str())) {
            self.calls.insert(id.to_owned(), name.to_owned());
            return None;
        }
        let escape = escape_of(name, input, self.turn)?;
        self.escapes.push((id.to_owned(), escape.clone()));
        Some(escape)
    }

    fn user(&mut self, message: &Message) {
        for block in message.message.content.as_array().into_iter().flatten() {
            let id = block.get("tool_use_id").and_then(Value::as_str).unwrap_or_default();
            let Some(tool) = self.calls.get(id).cloned() else {
                continue;
            };
            let words = block.get("content").and_then(Value::as_str).unwrap_or_default();
            // The model asked for something that is no call, and was told so by the agent; nothing was to be sent.
            if let Some(why) = words.strip_prefix("<tool_use_error>") {
                self.calls.remove(id);
                let why = shorten(why.trim_end_matches("</tool_use_error>"), 200);
                self.warn(format!("a call of `{tool}` was turned down by the agent itself: {why}"));
                continue;
            }
            if let Some(how) = block.get("content").and_then(shortened) {
                self.warn(format!("the agent may have seen less of the result of `{tool}`: {how}"));
            }
        }
    }

    fn warn(&mut self, warning: String) {
        if !self.warnings.contains(&warning) {
            self.warnings.push(warning);
        }
    }

    pub(super) fn finish(mut self, exit: &Exit) -> Reading {
        let outcome = self.outcome.take();
        let verdict = self.verdict(outcome.as_deref(), exit);
        for denial in outcome.iter().flat_map(|outcome| &outcome.permission_denials) {
            if self.calls.contains_key(&denial.tool_use_id) {
                self.warn(format!(
                    "`{}` was refused by the agent's own permissions and never sent",
                    denial.tool_name
                ));
            }
            for (_, escape) in self.escapes.iter_mut().filter(|(id, _)| *id == denial.tool_use_id) {
                escape.what.push_str(" (refused)");
            }
        }
        let mut reply = outcome
            .as_ref()
            .and_then(|outcome| outcome.result.clone())
            .unwrap_or_default();
        if verdict.ending == TurnEnding::Completed && reply.trim().is_empty() {
            reply.clone_from(&self.last_text);
            self.warn("the agent's result was empty; its last text stands in for it".to_owned());
        } else if outcome.is_none() {
            reply.clone_from(&self.last_text);
        }
        Reading {
            reply,
            ending: verdict.ending,
            detail: verdict.detail,
            refusal: verdict.refusal,
            usage: outcome.as_deref().map(usage).unwrap_or_default(),
            reported_calls: Some(u32::try_from(self.calls.len()).unwrap_or(u32::MAX)),
            resumable: self.session.is_some(),
            escapes: self.escapes.into_iter().map(|(_, escape)| escape).collect(),
            warnings: self.warnings,
            model: self.model,
        }
    }

    fn verdict(&self, outcome: Option<&Outcome>, exit: &Exit) -> Verdict {
        let stderr = tail(&exit.stderr_tail, SHOWN);
        if let Some(fault) = &exit.output_fault {
            return Verdict::new(TurnEnding::Unreadable, fault.clone());
        }
        let Some(outcome) = outcome else {
            return match (&self.broken_line, exit.success()) {
                (Some(error), true) => {
                    Verdict::new(TurnEnding::Unreadable, format!("a line of output was cut: {error}"))
                }
                (None, true) => Verdict::new(TurnEnding::Unreadable, "the output ended without a result".to_owned()),
                (_, false) => {
                    let colon = if stderr.is_empty() { "" } else { ": " };
                    Verdict::new(TurnEnding::AgentError, format!("{}{colon}{stderr}", exit.describe()))
                }
            };
        };
        // Some errors come as a success by name, with exit code 0.
        if outcome.is_error || outcome.subtype.starts_with("error") {
            let message = outcome.message().unwrap_or(stderr);
            let refusal = match outcome.api_error_status {
                Some(status) => Some(refusal::refusal(status, None, &message)),
                None => refusal::in_words(&message),
            };
            return Verdict {
                ending: TurnEnding::AgentError,
                detail: Some(message),
                refusal,
            };
        }
        if !exit.success() {
            return Verdict::new(TurnEnding::AgentError, format!("{} after its result", exit.describe()));
        }
        Verdict {
            ending: TurnEnding::Completed,
            detail: None,
            refusal: None,
        }
    }
}

struct Verdict {
    ending: TurnEnding,
    detail: Option<String>,
    refusal: Option<ModelRefusal>,
}

impl Verdict {
    fn new(ending: TurnEnding, detail: String) -> Self {
        Self {
            ending,
            detail: Some(detail),
            refusal: None,
        }
    }
}

impl Outcome {
    fn message(&self) -> Option<String> {
        let errors: Vec<_> = self
            .errors
            .iter()
            .map(|e| e.as_str().map_or_else(|| e.to_string(), str::to_owned))
            .collect();
        let message = self
            .result
            .clone()
            .filter(|text| !text.trim().is_empty())
            .unwrap_or_else(|| errors.join("; "));
        let message = if message.is_empty() {
            self.subtype.replace('_', " ")
        } else {
            message
        };
        Some(shorten(&message, SHOWN)).filter(|message| !message.is_empty())
    }
}

/// A result tells of its own invocation only, also when it resumed a session.
fn usage(outcome: &Outcome) -> Usage {
    let tokens = outcome.usage.as_ref();
    let input = tokens.and_then(|tokens| {
        let parts = [
            tokens.input_tokens,
            tokens.cache_creation_input_tokens,
            tokens.cache_read_input_tokens,
        ];
        parts
            .iter()
            .any(Option::is_some)
            .then(|| parts.into_iter().flatten().fold(0, u64::saturating_add))
    });
    Usage {
        input_tokens: input,
        output_tokens: tokens.and_then(|tokens| tokens.output_tokens),
        cached_input_tokens: tokens.and_then(|tokens| tokens.cache_read_input_tokens),
        cost_usd: outcome.total_cost_usd,
    }
}

/// How Claude Code shortened a tool result before it showed it to the model, if it did.
fn shortened(content: &Value) -> Option<String> {
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
fn escape_of(name: &str, input: &Value, turn: u32) -> Option<Escape> {
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

#[cfg(test)]
mod tests;
