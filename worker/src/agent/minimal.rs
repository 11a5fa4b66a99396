//! The built-in minimal agent: a loop of model and tools, and nothing else.
//!
//! It is a program of its own (`minimal-agent`, run through the command agent), so that an evaluation can be held with
//! any model that speaks Chat Completions, and with no agent's habits in between.

mod chat;
mod http;
mod mcp;
mod toolbox;

use std::fs;
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};

use clap::Args;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use thiserror::Error;

use self::chat::{Chat, ChatError};
use self::mcp::McpError;
use self::toolbox::Toolbox;

/// Requests to the model in one turn, unless told otherwise.
const MAX_STEPS: u32 = 20;

/// What the minimal agent is started with. The prompt comes on standard input.
#[derive(Args, Clone, Debug)]
pub struct MinimalArgs {
    /// File that names the MCP servers, in the common `mcpServers` form.
    #[arg(long, value_name = "FILE")]
    pub mcp_config: PathBuf,
    /// Base URL of the model API, the part before `/chat/completions`.
    #[arg(long, value_name = "URL")]
    pub model_url: String,
    /// The model to ask for.
    #[arg(long, value_name = "NAME")]
    pub model: String,
    /// File that keeps the conversation; a file that is there already is gone on with.
    #[arg(long, value_name = "FILE")]
    pub session: Option<PathBuf>,
    /// Requests to the model in this turn.
    #[arg(long, value_name = "N", default_value_t = MAX_STEPS)]
    pub max_steps: u32,
}

/// Why a turn failed.
#[derive(Debug, Error)]
enum MinimalError {
    #[error("read the prompt: {0}")]
    Prompt(std::io::Error),
    #[error("read {path}: {reason}")]
    Config { path: PathBuf, reason: String },
    #[error("keep the conversation in {path}: {reason}")]
    Session { path: PathBuf, reason: String },
    #[error("use MCP server `{server}`: {source}")]
    Mcp { server: String, source: McpError },
    #[error("ask the model: {0}")]
    Chat(#[from] ChatError),
    #[error("finish in {0} requests to the model")]
    Steps(u32),
    #[error("write the answer: {0}")]
    Answer(std::io::Error),
}

/// What is written to standard output.
#[derive(Serialize)]
struct Answer {
    answer: String,
    usage: Tokens,
}

/// Tokens of one turn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
struct Tokens {
    input_tokens: u64,
    output_tokens: u64,
    cached_input_tokens: u64,
}

/// Holds one turn: prompt on standard input, `{"answer", "usage"}` on standard output. Returns the exit code; a failure is
/// told on standard error.
pub async fn minimal_agent(args: MinimalArgs) -> i32 {
    match run(&args).await {
        Ok(()) => 0,
        Err(error) => {
            let _ = writeln!(std::io::stderr(), "failed to {error}");
            1
        }
    }
}

async fn run(args: &MinimalArgs) -> Result<(), MinimalError> {
    let mut prompt = String::new();
    std::io::stdin()
        .read_to_string(&mut prompt)
        .map_err(MinimalError::Prompt)?;
    write_answer(&turn(args, prompt).await?)
}

fn write_answer(answer: &Answer) -> Result<(), MinimalError> {
    let mut stdout = std::io::stdout().lock();
    serde_json::to_writer(&mut stdout, answer).map_err(|error| MinimalError::Answer(error.into()))?;
    writeln!(stdout)
        .and_then(|()| stdout.flush())
        .map_err(MinimalError::Answer)
}

async fn turn(args: &MinimalArgs, prompt: String) -> Result<Answer, MinimalError> {
    let mut messages = match &args.session {
        Some(path) => resume(path)?,
        None => Vec::new(),
    };
    messages.push(json!({ "role": "user", "content": prompt }));
    let tools = Toolbox::connect(&servers(&args.mcp_config)?).await?;
    let chat = Chat::new(&args.model_url, &args.model, std::env::var("OPENAI_API_KEY").ok());
    let mut usage = Tokens::default();
    for _ in 0..args.max_steps {
        let reply = chat.complete(&messages, tools.definitions()).await?;
        usage.input_tokens = usage.input_tokens.saturating_add(reply.usage.input_tokens);
        usage.output_tokens = usage.output_tokens.saturating_add(reply.usage.output_tokens);
        usage.cached_input_tokens = usage
            .cached_input_tokens
            .saturating_add(reply.usage.cached_input_tokens);
        messages.push(reply.message);
        if reply.calls.is_empty() {
            if let Some(path) = &args.session {
                keep(path, &messages)?;
            }
            tools.close().await;
            return Ok(Answer {
                answer: reply.text,
                usage,
            });
        }
        let results = reply.calls.iter().map(|call| async {
            let content = tools.call(&call.name, &call.arguments).await;
            json!({ "role": "tool", "tool_call_id": call.id, "content": content })
        });
        messages.extend(futures_util::future::join_all(results).await);
    }
    Err(MinimalError::Steps(args.max_steps))
}

#[derive(Deserialize)]
struct Config {
    #[serde(rename = "mcpServers")]
    servers: std::collections::BTreeMap<String, ConfiguredServer>,
}

#[derive(Deserialize)]
struct ConfiguredServer {
    url: String,
}

fn servers(path: &Path) -> Result<Vec<(String, String)>, MinimalError> {
    let failed = |reason: String| MinimalError::Config {
        path: path.to_owned(),
        reason,
    };
    let text = fs::read(path).map_err(|error| failed(error.to_string()))?;
    let config: Config = serde_json::from_slice(&text).map_err(|error| failed(error.to_string()))?;
    Ok(config
        .servers
        .into_iter()
        .map(|(name, server)| (name, server.url))
        .collect())
}

fn resume(path: &Path) -> Result<Vec<Value>, MinimalError> {
    let failed = |reason: String| MinimalError::Session {
        path: path.to_owned(),
        reason,
    };
    match fs::read(path) {
        Ok(text) => serde_json::from_slice(&text).map_err(|error| failed(error.to_string())),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(error) => Err(failed(error.to_string())),
    }
}

fn keep(path: &Path, messages: &[Value]) -> Result<(), MinimalError> {
    let failed = |reason: String| MinimalError::Session {
        path: path.to_owned(),
        reason,
    };
    let text = serde_json::to_vec(messages).map_err(|error| failed(error.to_string()))?;
    fs::write(path, text).map_err(|error| failed(error.to_string()))
}

#[cfg(test)]
mod tests;
