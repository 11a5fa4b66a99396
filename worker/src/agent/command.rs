//! Any command line as an agent, by a template.

use mcproctor_proto::agent::{Agent, AnswerFormat, CommandAgent, ModelApi, PromptInput};
use mcproctor_proto::turn::{TurnEnding, Usage};
use secrecy::SecretString;
use serde_json::Value;

use super::driver::{Driver, Exit, Invocation, NewFile, Place, Reading, Seen};
use super::error::AgentError;
use super::escape::tail;
use super::login::PLACEHOLDER_KEY;
use super::mcp_config;
use super::program::{Program, find_command};
use super::template::fill;

/// The most of an answer that is kept, in bytes; a program that prints more has not been understood.
const ANSWER_LIMIT: usize = 16 * 1024 * 1024;

/// Characters of standard error that go into the detail of a failed turn.
const STDERR_SHOWN: usize = 2_000;

/// Drives a [`CommandAgent`].
pub(super) struct Command {
    agent: Agent,
    template: CommandAgent,
    place: Place,
    program: Program,
    output: Output,
}

impl Command {
    pub(super) fn new(agent: &Agent, place: &Place) -> Result<Self, AgentError> {
        let template = agent.command.clone().ok_or_else(|| AgentError::Unsupported {
            agent: agent.name.clone(),
            reason: "a command agent needs a `command`".to_owned(),
        })?;
        let program = find_command(&template.program)?;
        let output = Output::new(template.answer.clone());
        Ok(Self {
            agent: agent.clone(),
            template,
            place: place.clone(),
            program,
            output,
        })
    }

    fn value(&self, name: &str, turn: u32, prompt: &str) -> Option<Result<String, AgentError>> {
        let or_missing = |value: Option<String>, reason: &str| {
            value.ok_or_else(|| AgentError::Unsupported {
                agent: self.agent.name.clone(),
                reason: reason.to_owned(),
            })
        };
        Some(match name {
            "mcp_url" => or_missing(
                self.place.mcp_servers.first().map(|(_, url)| url.clone()),
                "`{mcp_url}` is used, but the test case has no MCP server",
            ),
            "mcp_config" => Ok(self.config_path().to_string_lossy().into_owned()),
            "model_url" => or_missing(
                self.model_url(),
                "`{model_url}` is used, but no model API is configured",
            ),
            "model" => or_missing(
                self.agent.model.clone(),
                "`{model}` is used, but no model is configured",
            ),
            "prompt" if self.template.prompt == PromptInput::Argument => Ok(prompt.to_owned()),
            "session" => Ok(self.place.session.clone()),
            "turn" => Ok(turn.to_string()),
            _ => return None,
        })
    }

    fn config_path(&self) -> std::path::PathBuf {
        self.place.home.join("mcp.json")
    }

    /// The relay as a client library of the dialect wants it: with `/v1` for OpenAI's dialects, without for Anthropic's.
    fn model_url(&self) -> Option<String> {
        let origin = self.place.model_url.as_deref()?.trim_end_matches('/');
        Some(match self.template.model_api? {
            ModelApi::ChatCompletions | ModelApi::Responses => format!("{origin}/v1"),
            ModelApi::Messages => origin.to_owned(),
        })
    }
}

impl Driver for Command {
    fn invocation(&mut self, turn: u32, prompt: &str) -> Result<Invocation, AgentError> {
        let templates = match (turn, &self.template.resume_args) {
            (0, _) => &self.agent.args,
            (_, Some(args)) => args,
            (_, None) => {
                return Err(AgentError::NotResumable {
                    agent: self.agent.name.clone(),
                    reason: "it has no `resumeArgs`".to_owned(),
                });
            }
        };
        let args = templates
            .iter()
            .map(|template| fill(template, |name| self.value(name, turn, prompt)))
            .collect::<Result<Vec<_>, _>>()?;
        let mut env = self.agent.env.clone();
        if let Some(url) = self.model_url() {
            let (base, key) = match self.template.model_api {
                Some(ModelApi::Messages) => ("ANTHROPIC_BASE_URL", "ANTHROPIC_API_KEY"),
                _ => ("OPENAI_BASE_URL", "OPENAI_API_KEY"),
            };
            env.entry(base.to_owned()).or_insert_with(|| SecretString::from(url));
            env.entry(key.to_owned())
                .or_insert_with(|| SecretString::from(PLACEHOLDER_KEY));
        }
        self.output = Output::new(self.template.answer.clone());
        Ok(Invocation {
            program: self.program.path.clone(),
            args,
            env,
            path: self.program.folders.clone(),
            stdin: match self.template.prompt {
                PromptInput::Stdin => prompt.as_bytes().to_vec(),
                PromptInput::Argument => Vec::new(),
            },
            cwd: self.place.work.clone(),
            files: vec![NewFile {
                path: self.config_path(),
                contents: mcp_config::common_form(&self.place.mcp_servers),
            }],
        })
    }

    fn line(&mut self, line: &[u8]) -> Vec<Seen> {
        self.output.line(line);
        Vec::new()
    }

    fn finish(&mut self, exit: &Exit) -> Reading {
        let output = std::mem::replace(&mut self.output, Output::new(self.template.answer.clone()));
        let mut reading = Reading {
            reply: String::new(),
            ending: TurnEnding::Completed,
            detail: None,
            refusal: None,
            usage: Usage::default(),
            escapes: Vec::new(),
            warnings: Vec::new(),
            model: None,
            reported_calls: None,
            resumable: self.template.resume_args.is_some(),
        };
        let answer = output.answer();
        if let Ok(answer) = &answer {
            reading.reply.clone_from(&answer.text);
            reading.usage = answer.usage;
        }
        if !exit.success() {
            reading.ending = TurnEnding::AgentError;
            let stderr = tail(&exit.stderr_tail, STDERR_SHOWN);
            let colon = if stderr.is_empty() { "" } else { ": " };
            reading.detail = Some(format!("{}{colon}{stderr}", exit.describe()));
        } else if let Some(fault) = &exit.output_fault {
            reading.ending = TurnEnding::Unreadable;
            reading.detail = Some(fault.clone());
        } else if let Err(reason) = answer {
            reading.ending = TurnEnding::Unreadable;
            reading.detail = Some(reason);
        } else if reading.reply.is_empty() {
            reading.warnings.push("the agent's answer is empty".to_owned());
        }
        reading
    }
}

/// What a command printed, as far as its answer may be in it.
struct Output {
    format: AnswerFormat,
    kept: Vec<u8>,
    last: Option<Answer>,
    broken_line: Option<String>,
    too_large: bool,
}

#[derive(Default)]
struct Answer {
    text: String,
    usage: Usage,
}

impl Output {
    fn new(format: AnswerFormat) -> Self {
        Self {
            format,
            kept: Vec::new(),
            last: None,
            broken_line: None,
            too_large: false,
        }
    }

    fn line(&mut self, line: &[u8]) {
        if let AnswerFormat::JsonLines(pointer) = &self.format {
            if line.trim_ascii().is_empty() {
                return;
            }
            // Only what comes last decides whether the output was cut; a line of plain log in between is none of ours.
            self.broken_line = None;
            match serde_json::from_slice::<Value>(line) {
                Ok(value) => {
                    if let Some(answer) = at_pointer(&value, pointer) {
                        self.last = Some(answer);
                    }
                }
                Err(error) => self.broken_line = Some(error.to_string()),
            }
        } else if self.kept.len() + line.len() > ANSWER_LIMIT {
            self.too_large = true;
        } else {
            self.kept.extend_from_slice(line);
            self.kept.push(b'\n');
        }
    }

    fn answer(self) -> Result<Answer, String> {
        if self.too_large {
            return Err(format!("the agent printed more than {ANSWER_LIMIT} bytes"));
        }
        match self.format {
            AnswerFormat::Text => Ok(Answer {
                text: String::from_utf8_lossy(&self.kept).trim().to_owned(),
                usage: Usage::default(),
            }),
            AnswerFormat::Json(pointer) => {
                let value: Value = serde_json::from_slice(&self.kept)
                    .map_err(|error| format!("the agent's output is not one JSON document: {error}"))?;
                at_pointer(&value, &pointer).ok_or_else(|| format!("the agent's output has nothing at `{pointer}`"))
            }
            AnswerFormat::JsonLines(pointer) => match (self.last, self.broken_line) {
                (_, Some(error)) => Err(format!("the agent's last line of output is not JSON: {error}")),
                (Some(answer), None) => Ok(answer),
                (None, None) => Err(format!("no line of the agent's output has anything at `{pointer}`")),
            },
        }
    }
}

/// The text at `pointer`: a string as it is, `null` as nothing, anything else as JSON. Beside it, usage is taken from the
/// keys `inputTokens`, `outputTokens`, `cachedInputTokens` and `costUsd` of an object `usage`, where there is one.
fn at_pointer(value: &Value, pointer: &str) -> Option<Answer> {
    let text = match value.pointer(pointer)? {
        Value::String(text) => text.trim().to_owned(),
        Value::Null => String::new(),
        other => other.to_string(),
    };
    let usage = value
        .get("usage")
        .and_then(|usage| serde_json::from_value(usage.clone()).ok())
        .unwrap_or_default();
    Some(Answer { text, usage })
}

#[cfg(test)]
mod tests;
