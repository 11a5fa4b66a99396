//! What every driver offers, and what it is told.

use std::collections::BTreeMap;
use std::path::PathBuf;

use mcproctor_proto::traffic::ModelRefusal;
use mcproctor_proto::turn::{Escape, TurnEnding, Usage};
use secrecy::SecretString;

use super::error::AgentError;

/// Where an agent is seated.
#[derive(Clone, Debug)]
pub struct Place {
    /// Its fresh home folder.
    pub home: PathBuf,
    /// Its fresh work folder, which becomes its current directory.
    pub work: PathBuf,
    /// The MCP servers it is given: the configured name, which models see, and the URL of the recording proxy.
    pub mcp_servers: Vec<(String, String)>,
    /// The origin of the model relay (`http://127.0.0.1:PORT`, no path), which serves `/v1/messages`, `/v1/responses`
    /// and `/v1/chat/completions`; `None` when the agent talks to the model by itself.
    pub model_url: Option<String>,
    /// Whether a sandbox confines the agent: one of its own then neither can start nor is needed.
    pub confined: bool,
    /// The user's own home folder, for an agent that uses the user's own login; otherwise `None`.
    pub own_home: Option<PathBuf>,
    /// A UUID that stays the same over the turns of the attempt and is never used again.
    pub session: String,
}

impl Place {
    /// The configured names of the MCP servers.
    pub fn server_names(&self) -> Vec<String> {
        self.mcp_servers.iter().map(|(name, _)| name.clone()).collect()
    }
}

/// A file that has to be there before the program starts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewFile {
    /// Absolute, inside [`Place::home`] or [`Place::work`].
    pub path: PathBuf,
    /// What it holds. Readable by its owner only.
    pub contents: Vec<u8>,
}

/// One start of an agent's program.
#[derive(Clone, Debug)]
pub struct Invocation {
    /// Absolute path of the program.
    pub program: PathBuf,
    /// Its arguments, without the program.
    pub args: Vec<String>,
    /// Its environment, on top of what the sandbox sets.
    pub env: BTreeMap<String, SecretString>,
    /// Folders that have to come first in its `PATH`.
    pub path: Vec<PathBuf>,
    /// Written to its standard input, which is then closed.
    pub stdin: Vec<u8>,
    /// Its current directory.
    pub cwd: PathBuf,
    /// Files to write first; missing folders are made.
    pub files: Vec<NewFile>,
}

/// How a program ended, as far as a driver has to know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exit {
    /// The exit code; `None` when a signal ended it.
    pub code: Option<i32>,
    /// The signal that ended it.
    pub signal: Option<i32>,
    /// Why its output is known to be incomplete, if it is (disk full, beyond the limit).
    pub output_fault: Option<String>,
    /// The last few kilobytes of its standard error.
    pub stderr_tail: String,
}

impl Exit {
    /// Whether it ended by itself with exit code 0.
    pub fn success(&self) -> bool {
        self.code == Some(0)
    }

    /// How it ended, for people: `exit code 1`, `signal 9`.
    pub fn describe(&self) -> String {
        match (self.code, self.signal) {
            (Some(code), _) => format!("exit code {code}"),
            (None, Some(signal)) => format!("signal {signal}"),
            (None, None) => "an unknown exit status".to_owned(),
        }
    }
}

/// Something a driver saw in a line of output while the turn goes on. Only for people to look at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Seen {
    /// The agent wrote text.
    Text(String),
    /// The agent left the MCP binding.
    Escape(Escape),
}

/// What the output of a turn means.
#[derive(Clone, Debug, PartialEq)]
pub struct Reading {
    /// The agent's final text; empty when there was none.
    pub reply: String,
    /// How the turn ended; never [`TurnEnding::TimedOut`] or [`TurnEnding::Cancelled`], which the caller knows better.
    pub ending: TurnEnding,
    /// Why it did not complete, for people.
    pub detail: Option<String>,
    /// The model's refusal that ended the turn, as the agent tells it; for turns that no relay saw.
    pub refusal: Option<ModelRefusal>,
    /// This turn's tokens and money, as the agent reports them.
    pub usage: Usage,
    /// What it did outside the MCP binding.
    pub escapes: Vec<Escape>,
    /// Things a reader should know that change no verdict.
    pub warnings: Vec<String>,
    /// The model as the agent names it.
    pub model: Option<String>,
    /// MCP calls that the agent's own stream reports, successful or not; `None` where it reports none at all.
    pub reported_calls: Option<u32>,
    /// Whether a further turn can go on with the conversation.
    pub resumable: bool,
}

/// Starts one agent and reads what it prints, turn by turn, for one attempt.
pub trait Driver: Send + Sync {
    /// What to run for the turn with this index, from 0.
    ///
    /// # Errors
    ///
    /// When the agent cannot go on with a conversation, or the configuration does not fit.
    fn invocation(&mut self, turn: u32, prompt: &str) -> Result<Invocation, AgentError>;

    /// Takes one line of standard output, without its line feed.
    fn line(&mut self, line: &[u8]) -> Vec<Seen>;

    /// Says what the turn amounts to, once every line has been taken and the program is over.
    fn finish(&mut self, exit: &Exit) -> Reading;
}
