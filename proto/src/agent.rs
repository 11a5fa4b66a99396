//! The agent that an attempt is held with.

use std::collections::BTreeMap;
use std::fmt;

use secrecy::SecretString;
use serde::{Deserialize, Serialize};
use url::Url;

/// Which driver runs the agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AgentKind {
    /// The Claude Code command line.
    Claude,
    /// The Codex command line.
    Codex,
    /// Any command line, by a template.
    Command,
}

impl AgentKind {
    /// Every kind.
    pub const ALL: [Self; 3] = [Self::Claude, Self::Codex, Self::Command];

    /// The name in config files and on the wire.
    pub fn name(self) -> &'static str {
        match self {
            Self::Claude => "claude",
            Self::Codex => "codex",
            Self::Command => "command",
        }
    }

    /// The kind of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }
}

impl fmt::Display for AgentKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Whether the agent keeps the tools it brings along.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BuiltinTools {
    /// Only the tools of the server under test.
    #[default]
    None,
    /// Its own tools as well, as people use it.
    Default,
}

/// How the agent offers MCP tools to the model, where it has a choice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToolLoading {
    /// Every definition is sent with every request.
    Upfront,
    /// Definitions are found through the agent's own tool search.
    Deferred,
}

/// A configured agent, with what a worker needs to run it.
#[derive(Clone, Debug)]
pub struct Agent {
    /// The name in reports.
    pub name: String,
    /// Which driver runs it.
    pub kind: AgentKind,
    /// The model to ask for; the command line's own default when absent.
    pub model: Option<String>,
    /// Further arguments for the command line; for `command`, all its arguments (a template).
    pub args: Vec<String>,
    /// Further environment; values are secret.
    pub env: BTreeMap<String, SecretString>,
    /// Whether it keeps its own tools.
    pub builtin_tools: BuiltinTools,
    /// How it offers MCP tools, where it has a choice.
    pub tool_loading: Option<ToolLoading>,
    /// The model API that the relay forwards to; the provider's own when absent.
    pub base_url: Option<String>,
    /// How it authenticates at the model API.
    pub credential: Credential,
    /// Only for [`AgentKind::Command`].
    pub command: Option<CommandAgent>,
}

impl Agent {
    /// The API that it asks its model through; `None` for a command that asks none.
    pub fn model_api(&self) -> Option<ModelApi> {
        match self.kind {
            AgentKind::Claude => Some(ModelApi::Messages),
            AgentKind::Codex => Some(ModelApi::Responses),
            AgentKind::Command => self.command.as_ref()?.model_api,
        }
    }

    /// What it speaks to its model; `None` for a command that asks none.
    pub fn dialect(&self) -> Option<Dialect> {
        self.model_api().map(ModelApi::dialect)
    }

    /// Whether its requests end at the API of its program's own maker, which is also where they end when the config names no
    /// other address. A gateway is another one; a command has no maker that is known.
    pub fn asks_its_maker(&self) -> bool {
        let host = match self.kind {
            AgentKind::Claude => "api.anthropic.com",
            AgentKind::Codex => "api.openai.com",
            AgentKind::Command => return false,
        };
        match &self.base_url {
            Some(url) => Url::parse(url).is_ok_and(|url| url.host_str() == Some(host)),
            None => true,
        }
    }
}

/// How an agent authenticates at the model API.
#[derive(Clone, Debug)]
pub enum Credential {
    /// A key that the relay adds on the way out.
    ApiKey(SecretString),
    /// An OAuth token that the relay adds on the way out.
    OauthToken(SecretString),
    /// The command line's own login in the user's own home; no relay, not isolated.
    OwnLogin,
    /// The model API asks for none (a local one).
    None,
}

/// How to run an arbitrary command line as an agent.
///
/// Arguments may hold `{mcp_url}`, `{mcp_config}` (a file in the common `mcpServers` form), `{model_url}`, `{model}`,
/// `{prompt}` (only with [`PromptInput::Argument`]), `{session}` (constant over the turns) and `{turn}` (from 0).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommandAgent {
    /// The program, looked up in `PATH`.
    pub program: String,
    /// How it gets the prompt.
    pub prompt: PromptInput,
    /// How its answer is read.
    pub answer: AnswerFormat,
    /// Arguments of the second and later turns; `None` when it cannot go on with a conversation.
    pub resume_args: Option<Vec<String>>,
    /// The dialect it speaks to the model; `None` when it needs no relay.
    pub model_api: Option<ModelApi>,
}

/// How a command agent gets the prompt.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PromptInput {
    /// Written to its standard input, which is then closed.
    #[default]
    Stdin,
    /// Put in place of `{prompt}`.
    Argument,
}

/// How a command agent's answer is read from its standard output.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum AnswerFormat {
    /// All of it.
    #[default]
    Text,
    /// One JSON document; the answer is at this JSON pointer.
    Json(String),
    /// A JSON object a line; the answer is the last one found at this JSON pointer.
    JsonLines(String),
}

/// A dialect of model APIs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ModelApi {
    /// OpenAI Chat Completions.
    ChatCompletions,
    /// OpenAI Responses.
    Responses,
    /// Anthropic Messages.
    Messages,
}

impl ModelApi {
    /// The path that answers are asked for at.
    pub fn endpoint(self) -> &'static str {
        match self {
            Self::ChatCompletions => "/v1/chat/completions",
            Self::Responses => "/v1/responses",
            Self::Messages => "/v1/messages",
        }
    }

    /// What it has in common with others of its maker.
    pub fn dialect(self) -> Dialect {
        match self {
            Self::ChatCompletions | Self::Responses => Dialect::OpenAi,
            Self::Messages => Dialect::Anthropic,
        }
    }
}

/// What a model API speaks, as far as it matters for keys, addresses and refusals.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    /// Anthropic Messages.
    Anthropic,
    /// OpenAI Responses and Chat Completions.
    OpenAi,
}

impl Dialect {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Anthropic, Self::OpenAi];

    /// The name in a gateway's config, and of its entry for agents that name none.
    pub fn name(self) -> &'static str {
        match self {
            Self::Anthropic => "anthropic",
            Self::OpenAi => "openai",
        }
    }

    /// The dialect of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|dialect| dialect.name() == name)
    }

    /// The base URL of the maker's own API: an Anthropic one stands before `/v1`, an OpenAI one ends with it.
    pub fn makers_api(self) -> &'static str {
        match self {
            Self::Anthropic => "https://api.anthropic.com",
            Self::OpenAi => "https://api.openai.com/v1",
        }
    }
}
