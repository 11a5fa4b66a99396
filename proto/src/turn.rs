//! One message to the agent and its reply.

use serde::{Deserialize, Serialize};

use crate::traffic::ModelRefusal;

/// How a turn ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TurnEnding {
    /// The agent said that its turn is complete.
    Completed,
    /// The agent crashed or reported an error of its own.
    AgentError,
    /// The time limit of the turn was reached.
    TimedOut,
    /// The output was cut or cannot be read; our machinery's fault.
    Unreadable,
    /// Sandbox, spawn, disk or memory failed; our machinery's fault.
    Machinery,
    /// The run was cancelled meanwhile.
    Cancelled,
}

/// Tokens and money, where they are known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Usage {
    /// Tokens read by the model, cached ones included.
    pub input_tokens: Option<u64>,
    /// Tokens written by the model.
    pub output_tokens: Option<u64>,
    /// The part of the input that came from the provider's cache.
    pub cached_input_tokens: Option<u64>,
    /// US dollars as the agent reports them.
    pub cost_usd: Option<f64>,
}

impl Usage {
    /// Adds `other`; what is unknown on both sides stays unknown. A sum that is too large for its type, which only figures
    /// that somebody made up come to, stays at the largest number.
    pub fn add(&mut self, other: &Self) {
        fn with<T>(add: impl Fn(T, T) -> T) -> impl Fn(Option<T>, Option<T>) -> Option<T> {
            move |a, b| match (a, b) {
                (Some(a), Some(b)) => Some(add(a, b)),
                (a, b) => a.or(b),
            }
        }
        let sum = with(u64::saturating_add);
        let sum_of_money = with(|a: f64, b: f64| (a + b).clamp(f64::MIN, f64::MAX));
        self.input_tokens = sum(self.input_tokens, other.input_tokens);
        self.output_tokens = sum(self.output_tokens, other.output_tokens);
        self.cached_input_tokens = sum(self.cached_input_tokens, other.cached_input_tokens);
        self.cost_usd = sum_of_money(self.cost_usd, other.cost_usd);
    }
}

/// What kind of thing the agent did outside the MCP binding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EscapeKind {
    /// A shell command.
    Shell,
    /// A web search or fetch.
    Web,
    /// A file read, written or searched with a tool of its own.
    File,
    /// A call of an MCP server that is not under test.
    OtherServer,
    /// Any other tool of its own.
    OtherTool,
}

/// Something the agent did outside the MCP binding.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Escape {
    /// Which kind of thing.
    pub kind: EscapeKind,
    /// The command, address, path or tool, shortened for people.
    pub what: String,
    /// The turn it happened in, from 0.
    pub turn: u32,
}

/// One message to the agent and its reply.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Turn {
    /// From 0.
    pub index: u32,
    /// What was said to the agent.
    pub prompt: String,
    /// Its final text; empty when there was none.
    pub reply: String,
    /// How it ended.
    pub ending: TurnEnding,
    /// Why it did not complete, for people.
    pub detail: Option<String>,
    /// Milliseconds of Unix time.
    pub started_at_unix_ms: i64,
    /// Milliseconds.
    pub duration_ms: u64,
    /// As the agent reports it.
    pub usage: Usage,
    /// What it did outside the MCP binding.
    pub escapes: Vec<Escape>,
    /// Things a reader should know that change no verdict.
    pub warnings: Vec<String>,
    /// The model as the agent names it.
    pub model: Option<String>,
    /// MCP calls that the agent's own stream reports, where it does.
    pub reported_calls: Option<u32>,
    /// The model's refusal that ended the turn, in the agent's own words; needed where no relay is in the path.
    pub model_refusal: Option<ModelRefusal>,
}
