//! Reads what `claude --output-format stream-json` prints.

use std::collections::{BTreeMap, BTreeSet};

use mcproctor_proto::traffic::ModelRefusal;
use mcproctor_proto::turn::{Escape, TurnEnding};
use serde_json::Value;

use super::line::{Line, Message, Outcome};
use super::tools::{escape_of, prefix, shortened};
use crate::agent::driver::{Exit, Reading, Seen};
use crate::agent::escape::{shorten, tail};
use crate::agent::json_line::json_line;
use crate::agent::refusal;

/// Characters of standard error that go into a detail.
const SHOWN: usize = 2_000;

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
            if let Some(why) = turned_down(words) {
                self.calls.remove(id);
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
            usage: outcome.as_deref().map(Outcome::usage).unwrap_or_default(),
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

/// Why the agent sent no call for what the model asked for, if that was the model's own mistake: arguments that are not
/// valid, a tool that does not exist. A server that the agent has not connected yet is none.
fn turned_down(result: &str) -> Option<String> {
    let why = result.strip_prefix("<tool_use_error>")?;
    let own = why.starts_with("InputValidationError")
        || (why.contains("No such tool available") && !why.contains("still connecting"));
    own.then(|| shorten(why.trim_end_matches("</tool_use_error>"), 200))
}

#[cfg(test)]
mod tests;
