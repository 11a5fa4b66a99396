//! The Codex command line.

mod stream;

use std::collections::BTreeMap;

use mcproctor_proto::agent::{Agent, BuiltinTools, ToolLoading};
use mcproctor_proto::turn::Usage;
use secrecy::SecretString;

use self::stream::Stream;
use super::driver::{Driver, Exit, Invocation, NewFile, Place, Reading, Seen};
use super::error::AgentError;
use super::login::{self, PLACEHOLDER_KEY};
use super::program::{Program, find};

/// The name under which Codex knows the relay.
const PROVIDER: &str = "mcproctor";

/// What Codex calls its maker. A provider of this name is asked in the same words as the one that is built in.
const MAKER: &str = "OpenAI";

/// The variable that holds the placeholder key.
const KEY_VARIABLE: &str = "MCPROCTOR_MODEL_KEY";

/// Longer than any turn, in seconds: the proxy and the turn's limit decide how long a tool may take.
const TOOL_TIMEOUT_SEC: u32 = 86_400;

/// How long a server may take to be ready, in seconds.
const STARTUP_TIMEOUT_SEC: u32 = 60;

/// What has to be switched off so that only the tools of the servers are left.
const OWN_TOOLS: [&str; 12] = [
    "shell_tool",
    "view_image",
    "multi_agent",
    "goals",
    "plugins",
    "apps",
    "image_generation",
    "sleep_tool",
    "skill_search",
    "tool_suggest",
    "browser_use",
    "computer_use",
];

/// Drives `codex exec`.
pub(super) struct Codex {
    agent: Agent,
    place: Place,
    program: Program,
    thread: Option<String>,
    turn: u32,
    /// What Codex reported at the end of the last turn; it counts over the whole thread.
    total: Usage,
    stream: Stream,
}

impl Codex {
    pub(super) fn new(agent: &Agent, place: &Place) -> Result<Self, AgentError> {
        login::check(agent, place)?;
        if agent.tool_loading == Some(ToolLoading::Deferred) {
            return Err(AgentError::Unsupported {
                agent: agent.name.clone(),
                reason: "codex has no choice of `toolLoading`".to_owned(),
            });
        }
        Ok(Self {
            agent: agent.clone(),
            place: place.clone(),
            program: find(agent.kind)?,
            thread: None,
            turn: 0,
            total: Usage::default(),
            stream: Stream::new(&place.server_names(), 0),
        })
    }

    fn args(&self) -> Vec<String> {
        let mut args = vec!["exec".to_owned()];
        if self.thread.is_some() {
            args.push("resume".to_owned());
        }
        args.extend(["--json", "--skip-git-repo-check"].map(str::to_owned));
        for setting in self.settings() {
            args.extend(["-c".to_owned(), setting]);
        }
        if let Some(model) = &self.agent.model {
            args.extend(["-m".to_owned(), model.clone()]);
        }
        args.extend(self.agent.args.iter().cloned());
        args.extend(self.thread.iter().cloned());
        // The prompt comes on standard input.
        args.push("-".to_owned());
        args
    }

    fn settings(&self) -> Vec<String> {
        let mut settings = vec![
            "analytics.enabled=false".to_owned(),
            "check_for_update_on_startup=false".to_owned(),
            // `--sandbox` is no option of `exec resume`.
            format!("sandbox_mode={}", toml_string(self.sandbox_mode())),
            "approval_policy=\"never\"".to_owned(),
        ];
        if let Some(url) = &self.place.model_url {
            let base = toml_string(&format!("{}/v1", url.trim_end_matches('/')));
            settings.push(format!("model_provider=\"{PROVIDER}\""));
            // Another API may not know what only the maker's does.
            let name = if self.agent.asks_its_maker() { MAKER } else { PROVIDER };
            settings.push(format!(
                "model_providers.{PROVIDER}={{name=\"{name}\",base_url={base},wire_api=\"responses\",env_key=\"{KEY_VARIABLE}\"}}"
            ));
        }
        let servers: Vec<String> = self
            .place
            .mcp_servers
            .iter()
            .map(|(name, url)| server_setting(name, url))
            .collect();
        // A table, because a key with a dot in it cannot be written as a path.
        settings.push(format!("mcp_servers={{{}}}", servers.join(",")));
        if self.agent.builtin_tools == BuiltinTools::None {
            settings.extend(OWN_TOOLS.map(|feature| format!("features.{feature}=false")));
            settings.push("web_search=\"disabled\"".to_owned());
            // Its newest models are given sub-agents whatever the features say.
            settings.push("agents.enabled=false".to_owned());
        }
        settings
    }

    /// Codex's own sandbox cannot start inside another one; every command of its shell would fail.
    fn sandbox_mode(&self) -> &'static str {
        if self.place.confined && self.agent.builtin_tools == BuiltinTools::Default {
            "danger-full-access"
        } else {
            "read-only"
        }
    }

    fn env(&self) -> BTreeMap<String, SecretString> {
        let mut env = self.agent.env.clone();
        if self.place.model_url.is_some() {
            env.insert(KEY_VARIABLE.to_owned(), SecretString::from(PLACEHOLDER_KEY));
            env.insert(
                "CODEX_HOME".to_owned(),
                SecretString::from(self.home().to_string_lossy().into_owned()),
            );
        }
        login::own_environment(&self.place, "CODEX_HOME", &mut env);
        env
    }

    fn home(&self) -> std::path::PathBuf {
        self.place.home.join(".codex")
    }
}

/// An entry of the table of servers. `required` makes Codex wait for it before the first request to the model; without the
/// approval mode it refuses, with nobody to ask, every tool that is not annotated read-only.
fn server_setting(name: &str, url: &str) -> String {
    format!(
        "{}={{url={},required=true,default_tools_approval_mode=\"approve\",startup_timeout_sec={STARTUP_TIMEOUT_SEC},tool_timeout_sec={TOOL_TIMEOUT_SEC}}}",
        toml_string(name),
        toml_string(url),
    )
}

/// A basic string of TOML 1.0.
fn toml_string(text: &str) -> String {
    let mut quoted = String::from("\"");
    for character in text.chars() {
        match character {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            control if control.is_control() => {
                let code = u32::from(control);
                quoted.push_str(&format!("\\u{code:04X}"));
            }
            other => quoted.push(other),
        }
    }
    quoted.push('"');
    quoted
}

impl Driver for Codex {
    fn invocation(&mut self, turn: u32, prompt: &str) -> Result<Invocation, AgentError> {
        if turn > 0 && self.thread.is_none() {
            return Err(AgentError::NotResumable {
                agent: self.agent.name.clone(),
                reason: "it has named no thread".to_owned(),
            });
        }
        self.turn = turn;
        self.stream = Stream::new(&self.place.server_names(), turn);
        let files = match self.place.own_home {
            // The folder has to be there; an empty file in it brings it about.
            None => vec![NewFile {
                path: self.home().join("config.toml"),
                contents: Vec::new(),
            }],
            Some(_) => Vec::new(),
        };
        Ok(Invocation {
            program: self.program.path.clone(),
            args: self.args(),
            env: self.env(),
            path: self.program.folders.clone(),
            stdin: prompt.as_bytes().to_vec(),
            cwd: self.place.work.clone(),
            files,
        })
    }

    fn line(&mut self, line: &[u8]) -> Vec<Seen> {
        self.stream.line(line)
    }

    fn finish(&mut self, exit: &Exit) -> Reading {
        let stream = std::mem::replace(&mut self.stream, Stream::new(&[], self.turn));
        if let Some(thread) = stream.thread() {
            self.thread = Some(thread.to_owned());
        }
        let mut reading = stream.finish(exit);
        reading.model.clone_from(&self.agent.model);
        let total = reading.usage;
        reading.usage = difference(&total, &self.total);
        if total != Usage::default() {
            self.total = total;
        }
        reading
    }
}

/// What came on top of `before`.
fn difference(total: &Usage, before: &Usage) -> Usage {
    let minus = |total: Option<u64>, before: Option<u64>| total.map(|total| total.saturating_sub(before.unwrap_or(0)));
    Usage {
        input_tokens: minus(total.input_tokens, before.input_tokens),
        output_tokens: minus(total.output_tokens, before.output_tokens),
        cached_input_tokens: minus(total.cached_input_tokens, before.cached_input_tokens),
        cost_usd: None,
    }
}

#[cfg(test)]
mod tests;
