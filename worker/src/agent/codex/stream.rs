//! Reads what `codex exec --json` prints.

use std::collections::BTreeMap;

use mcproctor_proto::turn::{Escape, EscapeKind, TurnEnding, Usage};
use serde::Deserialize;
use serde_json::Value;

use crate::agent::driver::{Exit, Reading, Seen};
use crate::agent::escape::{escape, shorten, tail};
use crate::agent::json_line::json_line;
use crate::agent::refusal;

/// Characters of standard error or of an error message that go into a detail.
const SHOWN: usize = 2_000;

/// Beyond this many bytes of text Codex may cut a tool result in its middle before it shows it to the model. What its
/// output reports is the whole result.
const RESULT_LIMIT: usize = 10_000;

/// The name under which Codex reports its own tools that list and read MCP resources.
const OWN_SERVER: &str = "codex";

/// Codex's own tools for MCP resources. It reports them as calls of the server that is read, though no tool of the server is
/// called.
const RESOURCE_TOOLS: [&str; 3] = ["list_mcp_resources", "list_mcp_resource_templates", "read_mcp_resource"];

/// One line of output, as far as it matters here.
#[derive(Deserialize)]
#[serde(tag = "type")]
enum Line {
    #[serde(rename = "thread.started")]
    ThreadStarted { thread_id: String },
    #[serde(rename = "item.started")]
    ItemStarted { item: Value },
    #[serde(rename = "item.completed")]
    ItemCompleted { item: Value },
    #[serde(rename = "turn.completed")]
    TurnCompleted { usage: Option<Tokens> },
    #[serde(rename = "turn.failed")]
    TurnFailed { error: Option<Message> },
    #[serde(rename = "error")]
    Error {
        #[serde(default)]
        message: String,
    },
    #[serde(other)]
    Other,
}

/// An item of a turn; what it holds depends on its type.
struct Item<'a>(&'a Value);

impl<'a> Item<'a> {
    fn text(&self, key: &str) -> &'a str {
        self.0.get(key).and_then(Value::as_str).unwrap_or_default()
    }

    fn list(&self, path: &str) -> impl Iterator<Item = &'a Value> {
        self.0.pointer(path).and_then(Value::as_array).into_iter().flatten()
    }
}

#[derive(Deserialize)]
struct Message {
    #[serde(default)]
    message: String,
}

#[derive(Deserialize)]
struct Tokens {
    input_tokens: Option<u64>,
    cached_input_tokens: Option<u64>,
    output_tokens: Option<u64>,
}

enum End {
    Completed(Usage),
    Failed(String),
}

/// What the lines of one turn said so far.
pub(super) struct Stream {
    turn: u32,
    servers: Vec<String>,
    thread: Option<String>,
    last_message: String,
    last_error: Option<String>,
    /// Calls of the servers under test by the id of their item, and whether Codex refused to send them.
    calls: BTreeMap<String, bool>,
    /// By the id of the item; a line of its own may come at its start and at its end.
    escapes: Vec<(String, Escape)>,
    warnings: Vec<String>,
    broken_line: Option<String>,
    end: Option<End>,
}

impl Stream {
    pub(super) fn new(servers: &[String], turn: u32) -> Self {
        Self {
            turn,
            servers: servers.to_vec(),
            thread: None,
            last_message: String::new(),
            last_error: None,
            calls: BTreeMap::new(),
            escapes: Vec::new(),
            warnings: Vec::new(),
            broken_line: None,
            end: None,
        }
    }

    pub(super) fn thread(&self) -> Option<&str> {
        self.thread.as_deref()
    }

    pub(super) fn line(&mut self, line: &[u8]) -> Vec<Seen> {
        match json_line(line) {
            Ok(Some(line)) => self.take(line),
            Ok(None) => Vec::new(),
            Err(why) => {
                self.broken_line = Some(why);
                Vec::new()
            }
        }
    }

    fn take(&mut self, line: Line) -> Vec<Seen> {
        match line {
            Line::ThreadStarted { thread_id } => self.thread = Some(thread_id),
            Line::ItemStarted { item } => return self.item(&Item(&item), false),
            Line::ItemCompleted { item } => return self.item(&Item(&item), true),
            Line::TurnCompleted { usage } => self.end = Some(End::Completed(usage.map(Into::into).unwrap_or_default())),
            Line::TurnFailed { error } => {
                let message = error.map(|error| error.message).filter(|message| !message.is_empty());
                self.end = Some(End::Failed(message.or(self.last_error.take()).unwrap_or_default()));
            }
            // It may get over it: lost connections are reported in the same shape as what ends a turn.
            Line::Error { message } => self.last_error = Some(message),
            Line::Other => {}
        }
        Vec::new()
    }

    fn item(&mut self, item: &Item<'_>, over: bool) -> Vec<Seen> {
        let left = match item.text("type") {
            "agent_message" => {
                if !over || item.text("text").trim().is_empty() {
                    return Vec::new();
                }
                item.text("text").clone_into(&mut self.last_message);
                return vec![Seen::Text(self.last_message.clone())];
            }
            "mcp_tool_call" => {
                let server = item.text("server");
                if server == OWN_SERVER || RESOURCE_TOOLS.contains(&item.text("tool")) {
                    return Vec::new();
                }
                if self.servers.iter().any(|name| same_server(name, server)) {
                    self.call(item, over);
                    return Vec::new();
                }
                (EscapeKind::OtherServer, format!("{server}: {}", item.text("tool")))
            }
            "command_execution" => (EscapeKind::Shell, item.text("command").to_owned()),
            "web_search" => (EscapeKind::Web, item.text("query").to_owned()),
            "file_change" => (EscapeKind::File, changed_paths(item)),
            "error" => {
                if over {
                    self.warn(shorten(item.text("message"), SHOWN));
                }
                return Vec::new();
            }
            "reasoning" | "todo_list" | "plan" | "user_message" => return Vec::new(),
            other => (EscapeKind::OtherTool, other.to_owned()),
        };
        self.escape(item, escape(left.0, &left.1, self.turn))
    }

    /// Keeps one escape an item, with what its last line knows: a search names its words only at the end.
    fn escape(&mut self, item: &Item<'_>, escape: Escape) -> Vec<Seen> {
        let id = item.text("id");
        if let Some((_, known)) = self.escapes.iter_mut().find(|(known, _)| !id.is_empty() && known == id) {
            if !escape.what.is_empty() {
                *known = escape;
            }
            return Vec::new();
        }
        self.escapes.push((id.to_owned(), escape.clone()));
        vec![Seen::Escape(escape)]
    }

    fn call(&mut self, item: &Item<'_>, over: bool) {
        let refused = over && item.text("status") == "failed" && never_sent(item);
        self.calls.insert(item.text("id").to_owned(), refused);
        if over && result_bytes(item) > RESULT_LIMIT {
            self.warn(format!(
                "the agent may have seen less of the result of `{}`: codex cuts results beyond {RESULT_LIMIT} bytes",
                item.text("tool")
            ));
        }
    }

    fn warn(&mut self, warning: String) {
        if !self.warnings.contains(&warning) {
            self.warnings.push(warning);
        }
    }

    /// The reading; its usage counts over the whole thread.
    pub(super) fn finish(mut self, exit: &Exit) -> Reading {
        let refused = self.calls.values().filter(|refused| **refused).count();
        if refused > 0 {
            self.warn(format!(
                "{refused} MCP calls were refused by codex's own approval and never sent"
            ));
        }
        let (ending, detail) = self.verdict(exit);
        let refusal = detail
            .as_deref()
            .filter(|_| ending == TurnEnding::AgentError)
            .and_then(refusal::in_words);
        let usage = match self.end {
            Some(End::Completed(usage)) => usage,
            _ => Usage::default(),
        };
        if ending == TurnEnding::Completed && self.last_message.is_empty() {
            self.warn("the agent's answer is empty".to_owned());
        }
        Reading {
            reply: self.last_message,
            ending,
            detail,
            refusal,
            usage,
            escapes: self.escapes.into_iter().map(|(_, escape)| escape).collect(),
            warnings: self.warnings,
            model: None,
            reported_calls: Some(u32::try_from(self.calls.len()).unwrap_or(u32::MAX)),
            resumable: self.thread.is_some(),
        }
    }

    fn verdict(&self, exit: &Exit) -> (TurnEnding, Option<String>) {
        if let Some(fault) = &exit.output_fault {
            return (TurnEnding::Unreadable, Some(fault.clone()));
        }
        match (&self.end, exit.success()) {
            (Some(End::Failed(message)), _) => (TurnEnding::AgentError, Some(shorten(message, SHOWN))),
            (Some(End::Completed(_)), true) => (TurnEnding::Completed, None),
            (Some(End::Completed(_)), false) => (
                TurnEnding::AgentError,
                Some(format!("{} after the turn was complete", exit.describe())),
            ),
            (None, true) => {
                let why = match &self.broken_line {
                    Some(error) => format!("a line of output was cut: {error}"),
                    None => "the output ended before the turn was complete".to_owned(),
                };
                (TurnEnding::Unreadable, Some(why))
            }
            (None, false) => {
                let said = self
                    .last_error
                    .clone()
                    .unwrap_or_else(|| tail(&exit.stderr_tail, SHOWN));
                let colon = if said.is_empty() { "" } else { ": " };
                (
                    TurnEnding::AgentError,
                    Some(format!("{}{colon}{said}", exit.describe())),
                )
            }
        }
    }
}

impl From<Tokens> for Usage {
    fn from(tokens: Tokens) -> Self {
        Self {
            input_tokens: tokens.input_tokens,
            output_tokens: tokens.output_tokens,
            cached_input_tokens: tokens.cached_input_tokens,
            cost_usd: None,
        }
    }
}

/// Whether Codex means the server that was configured as `name`; in places it writes what is no letter, digit or `_`
/// as `_`.
fn same_server(name: &str, reported: &str) -> bool {
    let plain = |text: &str| text.replace(|c: char| !c.is_ascii_alphanumeric(), "_");
    name == reported || plain(name) == plain(reported)
}

/// Whether the call failed for want of an approval that nobody could give.
fn never_sent(item: &Item<'_>) -> bool {
    item.0
        .pointer("/error/message")
        .and_then(Value::as_str)
        .is_some_and(|message| {
            let message = message.to_lowercase();
            ["requires approval", "user cancelled", "user canceled", "user rejected"]
                .iter()
                .any(|why| message.contains(why))
        })
}

fn result_bytes(item: &Item<'_>) -> usize {
    item.list("/result/content")
        .filter_map(|block| block.get("text")?.as_str())
        .map(str::len)
        .sum()
}

fn changed_paths(item: &Item<'_>) -> String {
    let paths: Vec<&str> = item
        .list("/changes")
        .filter_map(|change| change.get("path")?.as_str())
        .collect();
    paths.join(", ")
}

#[cfg(test)]
mod tests;
