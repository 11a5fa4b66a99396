//! One turn of the model: what it says and calls.

use super::ScenarioError;
use super::node::Node;
use serde_json::{Map, Value};
use std::time::Duration;

/// What one reply of the model holds.
#[derive(Debug, Clone, Default)]
pub(crate) struct Turn {
    pub(crate) text: Option<String>,
    pub(crate) uses: Vec<ToolUse>,
    /// The text is a refusal in the API's own terms.
    pub(crate) refusal: bool,
    /// Waited before anything is sent.
    pub(crate) delay: Duration,
    /// Waited between two events of a stream.
    pub(crate) pace: Duration,
}

/// One thing a turn wants done.
#[derive(Debug, Clone)]
pub(crate) enum ToolUse {
    /// A tool by its own name, whatever prefix the agent gave it.
    Call {
        name: String,
        arguments: Arguments,
        /// Called by that very name even if nobody offers it.
        force: bool,
    },
    /// A command for whichever shell tool the agent offers.
    Shell(String),
}

/// The arguments of a call.
#[derive(Debug, Clone)]
pub(crate) enum Arguments {
    Object(Value),
    /// Sent as they are, JSON or not.
    Raw(String),
}

pub(super) const TURN_KEYS: [&str; 6] = ["call", "shell", "answer", "ask", "refuse", "empty"];

pub(super) fn read(step: &Node<'_>, kind: &str, delay: Duration) -> Result<Turn, ScenarioError> {
    let value = step.need(kind)?;
    let pace = Duration::from_millis(step.get("paceMs").map_or(Ok(0), |node| node.number())?);
    let mut turn = Turn {
        delay,
        pace,
        ..Turn::default()
    };
    match kind {
        "call" | "shell" => {
            step.only(&[kind, "say", "delayMs", "paceMs"])?;
            turn.text = step.get("say").map(|node| node.text()).transpose()?;
            for one in value.one_or_more()? {
                turn.uses.push(if kind == "call" {
                    read_call(&one)?
                } else {
                    ToolUse::Shell(one.text()?)
                });
            }
            if turn.uses.is_empty() {
                return Err(value.error("expected at least one"));
            }
        }
        "empty" => {
            step.only(&[kind, "delayMs", "paceMs"])?;
            if !value.truth()? {
                return Err(value.error("expected true"));
            }
        }
        _ => {
            step.only(&[kind, "delayMs", "paceMs"])?;
            turn.text = Some(value.text()?);
            turn.refusal = kind == "refuse";
        }
    }
    Ok(turn)
}

fn read_call(call: &Node<'_>) -> Result<ToolUse, ScenarioError> {
    if let Some(name) = call.value().as_str() {
        let arguments = Arguments::Object(Value::Object(Map::new()));
        return Ok(ToolUse::Call {
            name: name.to_owned(),
            arguments,
            force: false,
        });
    }
    call.only(&["tool", "arguments", "rawArguments", "force"])?;
    let arguments = match (call.get("arguments"), call.get("rawArguments")) {
        (Some(_), Some(raw)) => return Err(raw.error("give arguments or rawArguments, not both")),
        (None, Some(raw)) => Arguments::Raw(raw.text()?),
        (Some(object), None) => {
            object.entries()?;
            Arguments::Object(object.value().clone())
        }
        (None, None) => Arguments::Object(Value::Object(Map::new())),
    };
    let force = call.get("force").map_or(Ok(false), |node| node.truth())?;
    Ok(ToolUse::Call {
        name: call.need("tool")?.text()?,
        arguments,
        force,
    })
}
