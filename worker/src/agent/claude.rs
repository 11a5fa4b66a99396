//! The Claude Code command line.

mod line;
mod stream;
mod tools;

use std::collections::BTreeMap;

use mcproctor_proto::agent::{Agent, BuiltinTools, Credential, ToolLoading};
use secrecy::SecretString;

use self::stream::Stream;
use super::driver::{Driver, Exit, Invocation, NewFile, Place, Reading, Seen};
use super::error::AgentError;
use super::login::{self, PLACEHOLDER_KEY, PLACEHOLDER_TOKEN};
use super::mcp_config;
use super::program::{Program, find};

/// Longer than any turn: the proxy and the turn's limit decide how long a tool may take, not the agent's own clock.
const TOOL_TIMEOUT_MS: &str = "86400000";

/// How long a server may take to be ready before the first request to the model.
const CONNECT_TIMEOUT_MS: &str = "60000";

/// Drives `claude -p`.
pub(super) struct Claude {
    agent: Agent,
    place: Place,
    program: Program,
    session: Option<String>,
    turn: u32,
    stream: Stream,
}

impl Claude {
    pub(super) fn new(agent: &Agent, place: &Place) -> Result<Self, AgentError> {
        login::check(agent, place)?;
        Ok(Self {
            agent: agent.clone(),
            place: place.clone(),
            program: find(agent.kind)?,
            session: None,
            turn: 0,
            stream: Stream::new(&place.server_names(), 0),
        })
    }

    fn config_path(&self) -> std::path::PathBuf {
        // Beside the work folder and not in it, where it would look like a part of the task.
        self.place.home.join("mcproctor-mcp.json")
    }

    fn args(&self) -> Vec<String> {
        let mut args = vec!["-p".to_owned(), "--output-format".to_owned(), "stream-json".to_owned()];
        if let Some(session) = &self.session {
            args.extend(["--resume".to_owned(), session.clone()]);
        }
        args.push("--strict-mcp-config".to_owned());
        args.push("--mcp-config".to_owned());
        args.push(self.config_path().to_string_lossy().into_owned());
        if !self.place.mcp_servers.is_empty() {
            // The server alone would be the shorter rule, but it is split at `__`, so it fails for a name with one in it.
            let allowed: Vec<_> = self
                .place
                .server_names()
                .iter()
                .map(|name| format!("{}__*", tools::prefix(name)))
                .collect();
            args.extend(["--allowedTools".to_owned(), allowed.join(",")]);
        }
        if self.agent.builtin_tools == BuiltinTools::None {
            let kept = if self.deferred() { "ToolSearch" } else { "" };
            args.extend(["--tools".to_owned(), kept.to_owned()]);
        }
        if let Some(model) = &self.agent.model {
            args.extend(["--model".to_owned(), model.clone()]);
        }
        // An option without a value stands last: those above take any number, so they would swallow what follows.
        args.push("--verbose".to_owned());
        args.extend(self.agent.args.iter().cloned());
        args
    }

    fn deferred(&self) -> bool {
        self.agent.tool_loading == Some(ToolLoading::Deferred)
    }

    fn env(&self) -> BTreeMap<String, SecretString> {
        let mut env: BTreeMap<&str, &str> = BTreeMap::from([
            ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1"),
            ("DISABLE_AUTOUPDATER", "1"),
            // Otherwise a server that is slow to connect is missing from the first request.
            ("MCP_CONNECTION_NONBLOCKING", "0"),
            ("MCP_CONNECT_TIMEOUT_MS", CONNECT_TIMEOUT_MS),
            ("MCP_TIMEOUT", CONNECT_TIMEOUT_MS),
            ("MCP_TOOL_TIMEOUT", TOOL_TIMEOUT_MS),
            ("CLAUDE_CODE_MCP_TOOL_IDLE_TIMEOUT", "0"),
        ]);
        match (self.agent.tool_loading, self.agent.builtin_tools) {
            (Some(ToolLoading::Deferred), _) => {
                env.insert("ENABLE_TOOL_SEARCH", "true");
            }
            // Deferred tools without the tool that searches for them would leave the model with none.
            (Some(ToolLoading::Upfront), _) | (None, BuiltinTools::None) => {
                env.insert("ENABLE_TOOL_SEARCH", "false");
            }
            // What it does by itself at its maker's API; the relay's address makes it think that it is somewhere else.
            (None, BuiltinTools::Default) if self.agent.asks_its_maker() => {
                env.insert("ENABLE_TOOL_SEARCH", "true");
            }
            (None, BuiltinTools::Default) => {}
        }
        let mut env: BTreeMap<String, SecretString> = env
            .into_iter()
            .map(|(name, value)| (name.to_owned(), SecretString::from(value)))
            .collect();
        env.extend(self.agent.env.clone());
        if let Some(url) = &self.place.model_url {
            let (name, placeholder) = match self.agent.credential {
                // With a token it sends the headers that the API asks of tokens.
                Credential::OauthToken(_) => ("CLAUDE_CODE_OAUTH_TOKEN", PLACEHOLDER_TOKEN),
                _ => ("ANTHROPIC_API_KEY", PLACEHOLDER_KEY),
            };
            for credential in ["ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN"] {
                env.remove(credential);
            }
            env.insert(name.to_owned(), SecretString::from(placeholder));
            env.insert(
                "ANTHROPIC_BASE_URL".to_owned(),
                SecretString::from(url.trim_end_matches('/')),
            );
        }
        login::own_environment(&self.place, "CLAUDE_CONFIG_DIR", &mut env);
        env
    }
}

impl Driver for Claude {
    fn invocation(&mut self, turn: u32, prompt: &str) -> Result<Invocation, AgentError> {
        if turn > 0 && self.session.is_none() {
            return Err(AgentError::NotResumable {
                agent: self.agent.name.clone(),
                reason: "it has named no session".to_owned(),
            });
        }
        self.turn = turn;
        self.stream = Stream::new(&self.place.server_names(), turn);
        Ok(Invocation {
            program: self.program.path.clone(),
            args: self.args(),
            env: self.env(),
            path: self.program.folders.clone(),
            stdin: prompt.as_bytes().to_vec(),
            cwd: self.place.work.clone(),
            files: vec![NewFile {
                path: self.config_path(),
                contents: mcp_config::common_form(&self.place.mcp_servers),
            }],
        })
    }

    fn line(&mut self, line: &[u8]) -> Vec<Seen> {
        self.stream.line(line)
    }

    fn finish(&mut self, exit: &Exit) -> Reading {
        let stream = std::mem::replace(&mut self.stream, Stream::new(&[], self.turn));
        if let Some(session) = stream.session() {
            self.session = Some(session.to_owned());
        }
        stream.finish(exit)
    }
}

#[cfg(test)]
mod tests;
