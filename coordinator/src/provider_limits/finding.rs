//! What is looked at, and what is found.

use std::fmt;

use serde_json::Value;

/// What there is to check of a tool.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolShape {
    /// Its name.
    pub name: String,
    /// Its description for models.
    pub description: Option<String>,
    /// The schema of its arguments as the server gives it; null when there is none.
    pub input_schema: Value,
}

/// How bad a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// Some agents or models change the definition, or refuse it in some of their settings.
    Warning,
    /// The request with this definition is refused, or the tool never reaches the model.
    Error,
}

/// Who refuses or changes a definition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Consumer {
    /// The Claude Code command line, with the Anthropic API behind it.
    ClaudeCode,
    /// The Anthropic Messages API, whoever asks.
    Anthropic,
    /// The OpenAI API, whoever asks.
    OpenAi,
}

impl Consumer {
    /// The name for people.
    pub fn name(self) -> &'static str {
        match self {
            Self::ClaudeCode => "Claude Code",
            Self::Anthropic => "Anthropic API",
            Self::OpenAi => "OpenAI API",
        }
    }
}

impl fmt::Display for Consumer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Something in a definition that a consumer refuses or changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The tool; `None` when it is about the whole list.
    pub tool: Option<String>,
    /// How bad it is.
    pub severity: Severity,
    /// What is wrong and what comes of it, for people.
    pub what: String,
    /// Where, as a JSON pointer into the tool's definition (RFC 6901); empty for the whole of it.
    pub path: String,
    /// Where the rule comes from.
    pub source: &'static str,
    /// Who refuses or changes it.
    pub agents: &'static [Consumer],
}

/// A finding about a place in one tool, whose name the caller adds.
pub(super) fn at(
    severity: Severity,
    path: impl Into<String>,
    what: impl Into<String>,
    agents: &'static [Consumer],
    source: &'static str,
) -> Finding {
    Finding {
        tool: None,
        severity,
        what: what.into(),
        path: path.into(),
        source,
        agents,
    }
}
