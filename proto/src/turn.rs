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

/// Tokens and money, where they are known. Tokens have the meaning of [`crate::tokens::Tokens`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Usage {
    /// Tokens read by the model, cached ones included.
    pub input_tokens: Option<u64>,
    /// Tokens written by the model.
    pub output_tokens: Option<u64>,
    /// The part of the input that came from the provider's cache.
    pub cached_input_tokens: Option<u64>,
    /// US dollars: as the agent reports them, or by list prices.
    pub cost_usd: Option<f64>,
}

impl Usage {
    /// Adds `other`; what is unknown on both sides stays unknown. Sums that no number holds become the largest one.
    pub fn add(&mut self, other: &Self) {
        fn sum<T>(a: Option<T>, b: Option<T>, plus: impl FnOnce(T, T) -> T) -> Option<T> {
            match (a, b) {
                (Some(a), Some(b)) => Some(plus(a, b)),
                (a, b) => a.or(b),
            }
        }
        let plus = u64::saturating_add;
        self.input_tokens = sum(self.input_tokens, other.input_tokens, plus);
        self.output_tokens = sum(self.output_tokens, other.output_tokens, plus);
        self.cached_input_tokens = sum(self.cached_input_tokens, other.cached_input_tokens, plus);
        self.cost_usd = sum(self.reported_cost_usd(), other.reported_cost_usd(), |a, b| {
            (a + b).min(f64::MAX)
        });
    }

    /// The cost, if it can be one: what is negative, infinite or no number is as if it were not reported.
    pub fn reported_cost_usd(&self) -> Option<f64> {
        self.cost_usd.filter(|cost| cost.is_finite() && *cost >= 0.0)
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
    /// A request that relay or proxy did not pass on.
    Refused,
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

#[cfg(test)]
mod tests {
    use super::Usage;

    #[test]
    fn sums_that_no_number_holds_become_the_largest_one() {
        let huge = Usage {
            input_tokens: Some(u64::MAX),
            output_tokens: Some(u64::MAX - 1),
            cached_input_tokens: None,
            cost_usd: Some(f64::MAX),
        };
        let mut sum = huge;
        sum.add(&huge);
        assert_eq!(
            (
                sum.input_tokens,
                sum.output_tokens,
                sum.cached_input_tokens,
                sum.cost_usd
            ),
            (Some(u64::MAX), Some(u64::MAX), None, Some(f64::MAX))
        );
    }

    #[test]
    fn what_cannot_be_a_cost_is_not_reported() {
        let cost = |usd| Usage {
            cost_usd: Some(usd),
            ..Usage::default()
        };
        for usd in [-0.01, f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            assert_eq!(cost(usd).reported_cost_usd(), None, "{usd}");
            let mut sum = cost(0.5);
            sum.add(&cost(usd));
            assert_eq!(sum.cost_usd, Some(0.5), "{usd}");
        }
        assert_eq!(cost(0.0).reported_cost_usd(), Some(0.0));
    }
}
