//! The lines that `claude --output-format stream-json` prints.

use mcproctor_proto::turn::Usage;
use serde::Deserialize;
use serde_json::Value;

use crate::agent::escape::shorten;

/// Characters of an error message that are kept.
const SHOWN: usize = 2_000;

/// One line of output, as far as it matters here.
#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum Line {
    System(System),
    Assistant(Message),
    User(Message),
    Result(Box<Outcome>),
    #[serde(other)]
    Other,
}

#[derive(Deserialize)]
pub(super) struct System {
    #[serde(default)]
    pub(super) subtype: String,
    pub(super) session_id: Option<String>,
    pub(super) model: Option<String>,
    #[serde(default)]
    pub(super) mcp_servers: Vec<Server>,
}

#[derive(Deserialize)]
pub(super) struct Server {
    pub(super) name: String,
    pub(super) status: String,
}

#[derive(Deserialize)]
pub(super) struct Message {
    pub(super) message: Content,
    pub(super) parent_tool_use_id: Option<String>,
}

#[derive(Deserialize)]
pub(super) struct Content {
    #[serde(default)]
    pub(super) content: Value,
    pub(super) model: Option<String>,
}

#[derive(Deserialize)]
pub(super) struct Outcome {
    #[serde(default)]
    pub(super) is_error: bool,
    #[serde(default)]
    pub(super) subtype: String,
    pub(super) result: Option<String>,
    #[serde(default)]
    pub(super) errors: Vec<Value>,
    pub(super) api_error_status: Option<u16>,
    pub(super) session_id: Option<String>,
    pub(super) total_cost_usd: Option<f64>,
    pub(super) usage: Option<Tokens>,
    #[serde(default)]
    pub(super) permission_denials: Vec<Denial>,
}

#[derive(Deserialize)]
pub(super) struct Tokens {
    pub(super) input_tokens: Option<u64>,
    pub(super) cache_creation_input_tokens: Option<u64>,
    pub(super) cache_read_input_tokens: Option<u64>,
    pub(super) output_tokens: Option<u64>,
}

#[derive(Deserialize)]
pub(super) struct Denial {
    #[serde(default)]
    pub(super) tool_name: String,
    #[serde(default)]
    pub(super) tool_use_id: String,
}

impl Outcome {
    /// What went wrong, in its own words.
    pub(super) fn message(&self) -> Option<String> {
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

    /// A result tells of its own invocation only, also when it resumed a session.
    pub(super) fn usage(&self) -> Usage {
        let tokens = self.usage.as_ref();
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
            cost_usd: self.total_cost_usd,
        }
    }
}
