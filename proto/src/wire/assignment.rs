//! What a worker is asked to run. Secrets are in the clear here and nowhere else.

use std::path::PathBuf;
use std::time::Duration;

use secrecy::{ExposeSecret, SecretString};

use super::malformed::{Malformed, optional, required};
use super::worker::lease;
use crate::agent::{
    Agent, AgentKind, AnswerFormat, BuiltinTools, CommandAgent, Credential, ModelApi, PromptInput, ToolLoading,
};
use crate::allowance::Allowance;
use crate::assignment::{Assignment, DEFAULT_IMAGE, Resources, SandboxLevel};
use crate::id::{IterationId, RunId};
use crate::redact::Blinded;
use crate::server::{Header, HttpServer, Server, StdioServer, Transport};
use crate::v1;

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

fn expose<'a>(
    env: impl IntoIterator<Item = (&'a String, &'a SecretString)>,
) -> std::collections::HashMap<String, String> {
    env.into_iter()
        .map(|(name, value)| (name.clone(), value.expose_secret().to_owned()))
        .collect()
}

fn conceal(env: std::collections::HashMap<String, String>) -> std::collections::BTreeMap<String, SecretString> {
    env.into_iter()
        .map(|(name, value)| (name, SecretString::from(value)))
        .collect()
}

impl From<&Assignment> for v1::Assignment {
    fn from(assignment: &Assignment) -> Self {
        Self {
            lease: Some((&assignment.lease).into()),
            run: assignment.run.as_str().to_owned(),
            iteration: assignment.iteration.as_str().to_owned(),
            attempt_number: assignment.attempt_number,
            agent: Some((&assignment.agent).into()),
            servers: assignment.servers.iter().map(v1::Server::from).collect(),
            prompt: assignment.prompt.clone(),
            turn_timeout_ms: millis(assignment.turn_timeout),
            idle_timeout_ms: millis(assignment.idle_timeout),
            sandbox: assignment.sandbox.name().to_owned(),
            debug: assignment.debug,
            max_turns: assignment.max_turns,
            resources: Some((&assignment.resources).into()),
            image: assignment.image.clone(),
            allowance: Some((&assignment.allowance).into()),
            model_ca_pem: assignment.model_ca_pem.clone().unwrap_or_default(),
            blinded: assignment.blinded.iter().map(v1::Blinded::from).collect(),
        }
    }
}

impl From<&Blinded> for v1::Blinded {
    fn from(blinded: &Blinded) -> Self {
        Self {
            length: blinded.length,
            base: blinded.base,
            fingerprint: blinded.fingerprint,
            digest: blinded.digest.clone(),
        }
    }
}

impl From<v1::Blinded> for Blinded {
    fn from(blinded: v1::Blinded) -> Self {
        Self {
            length: blinded.length,
            base: blinded.base,
            fingerprint: blinded.fingerprint,
            digest: blinded.digest,
        }
    }
}

/// On the wire 0 is no limit.
impl From<&Resources> for v1::Resources {
    fn from(resources: &Resources) -> Self {
        Self {
            memory_bytes: resources.memory_bytes.unwrap_or_default(),
            processes: resources.processes.unwrap_or_default(),
            cpus: resources.cpus.unwrap_or_default(),
            disk_bytes: resources.disk_bytes.unwrap_or_default(),
        }
    }
}

impl From<v1::Resources> for Resources {
    fn from(resources: v1::Resources) -> Self {
        Self {
            memory_bytes: Some(resources.memory_bytes).filter(|limit| *limit > 0),
            processes: Some(resources.processes).filter(|limit| *limit > 0),
            cpus: Some(resources.cpus).filter(|limit| *limit > 0),
            disk_bytes: Some(resources.disk_bytes).filter(|limit| *limit > 0),
        }
    }
}

impl TryFrom<v1::Assignment> for Assignment {
    type Error = Malformed;

    fn try_from(assignment: v1::Assignment) -> Result<Self, Malformed> {
        Ok(Self {
            lease: lease(assignment.lease)?,
            run: RunId::new(assignment.run),
            iteration: IterationId::new(assignment.iteration),
            attempt_number: assignment.attempt_number,
            agent: required("agent", assignment.agent)?.try_into()?,
            servers: assignment
                .servers
                .into_iter()
                .map(TryInto::try_into)
                .collect::<Result<_, _>>()?,
            prompt: assignment.prompt,
            max_turns: assignment.max_turns,
            turn_timeout: Duration::from_millis(assignment.turn_timeout_ms),
            idle_timeout: Duration::from_millis(assignment.idle_timeout_ms),
            sandbox: SandboxLevel::from_name(&assignment.sandbox)
                .ok_or_else(|| Malformed::unknown("sandbox", &assignment.sandbox))?,
            image: if assignment.image.is_empty() {
                DEFAULT_IMAGE.to_owned()
            } else {
                assignment.image
            },
            resources: assignment.resources.unwrap_or_default().into(),
            model_ca_pem: optional(assignment.model_ca_pem),
            allowance: assignment
                .allowance
                .map(Allowance::try_from)
                .transpose()?
                .unwrap_or_default(),
            blinded: assignment.blinded.into_iter().map(Blinded::from).collect(),
            debug: assignment.debug,
        })
    }
}

impl From<&Agent> for v1::Agent {
    fn from(agent: &Agent) -> Self {
        Self {
            name: agent.name.clone(),
            kind: agent.kind.name().to_owned(),
            model: agent.model.clone().unwrap_or_default(),
            args: agent.args.clone(),
            env: expose(&agent.env),
            builtin_tools: match agent.builtin_tools {
                BuiltinTools::None => "none",
                BuiltinTools::Default => "default",
            }
            .to_owned(),
            base_url: agent.base_url.clone().unwrap_or_default(),
            credential: Some(match &agent.credential {
                Credential::ApiKey(secret) => credential("api_key", secret.expose_secret()),
                Credential::OauthToken(secret) => credential("oauth_token", secret.expose_secret()),
                Credential::OwnLogin => credential("own_login", ""),
                Credential::None => credential("none", ""),
            }),
            command: agent.command.as_ref().map(v1::CommandAgent::from),
            tool_loading: match agent.tool_loading {
                None => "",
                Some(ToolLoading::Upfront) => "upfront",
                Some(ToolLoading::Deferred) => "deferred",
            }
            .to_owned(),
        }
    }
}

fn credential(kind: &str, secret: &str) -> v1::Credential {
    v1::Credential {
        kind: kind.to_owned(),
        secret: secret.to_owned(),
    }
}

impl TryFrom<v1::Agent> for Agent {
    type Error = Malformed;

    fn try_from(agent: v1::Agent) -> Result<Self, Malformed> {
        let credential = required("credential", agent.credential)?;
        Ok(Self {
            name: agent.name,
            kind: AgentKind::from_name(&agent.kind).ok_or_else(|| Malformed::unknown("kind", &agent.kind))?,
            model: optional(agent.model),
            args: agent.args,
            env: conceal(agent.env),
            builtin_tools: match agent.builtin_tools.as_str() {
                "none" => BuiltinTools::None,
                "default" => BuiltinTools::Default,
                other => return Err(Malformed::unknown("builtin_tools", other)),
            },
            tool_loading: match agent.tool_loading.as_str() {
                "" => None,
                "upfront" => Some(ToolLoading::Upfront),
                "deferred" => Some(ToolLoading::Deferred),
                other => return Err(Malformed::unknown("tool_loading", other)),
            },
            base_url: optional(agent.base_url),
            credential: match credential.kind.as_str() {
                "api_key" => Credential::ApiKey(credential.secret.into()),
                "oauth_token" => Credential::OauthToken(credential.secret.into()),
                "own_login" => Credential::OwnLogin,
                "none" => Credential::None,
                other => return Err(Malformed::unknown("credential", other)),
            },
            command: agent.command.map(TryInto::try_into).transpose()?,
        })
    }
}

impl From<&CommandAgent> for v1::CommandAgent {
    fn from(command: &CommandAgent) -> Self {
        let (answer, pointer) = match &command.answer {
            AnswerFormat::Text => ("text", ""),
            AnswerFormat::Json(pointer) => ("json", pointer.as_str()),
            AnswerFormat::JsonLines(pointer) => ("jsonl", pointer.as_str()),
        };
        Self {
            program: command.program.clone(),
            prompt: match command.prompt {
                PromptInput::Stdin => "stdin",
                PromptInput::Argument => "argument",
            }
            .to_owned(),
            answer: answer.to_owned(),
            answer_pointer: pointer.to_owned(),
            resume_args: command.resume_args.clone().unwrap_or_default(),
            model_api: match command.model_api {
                None => "",
                Some(ModelApi::ChatCompletions) => "chat_completions",
                Some(ModelApi::Responses) => "responses",
                Some(ModelApi::Messages) => "messages",
            }
            .to_owned(),
        }
    }
}

impl TryFrom<v1::CommandAgent> for CommandAgent {
    type Error = Malformed;

    fn try_from(command: v1::CommandAgent) -> Result<Self, Malformed> {
        Ok(Self {
            program: command.program,
            prompt: match command.prompt.as_str() {
                "stdin" => PromptInput::Stdin,
                "argument" => PromptInput::Argument,
                other => return Err(Malformed::unknown("prompt", other)),
            },
            answer: match command.answer.as_str() {
                "text" => AnswerFormat::Text,
                "json" => AnswerFormat::Json(command.answer_pointer),
                "jsonl" => AnswerFormat::JsonLines(command.answer_pointer),
                other => return Err(Malformed::unknown("answer", other)),
            },
            resume_args: (!command.resume_args.is_empty()).then_some(command.resume_args),
            model_api: match command.model_api.as_str() {
                "" => None,
                "chat_completions" => Some(ModelApi::ChatCompletions),
                "responses" => Some(ModelApi::Responses),
                "messages" => Some(ModelApi::Messages),
                other => return Err(Malformed::unknown("model_api", other)),
            },
        })
    }
}

impl From<&Server> for v1::Server {
    fn from(server: &Server) -> Self {
        use v1::server::Transport as Wire;
        let transport = match &server.transport {
            Transport::Http(http) => Wire::Http(v1::HttpServer {
                url: http.url.clone(),
                headers: http
                    .headers
                    .iter()
                    .map(|header| v1::Header {
                        name: header.name.clone(),
                        value: header.value.expose_secret().to_owned(),
                    })
                    .collect(),
                ca_pem: http.ca_pem.clone().unwrap_or_default(),
            }),
            Transport::Stdio(stdio) => Wire::Stdio(v1::StdioServer {
                command: stdio.command.clone(),
                args: stdio.args.clone(),
                env: expose(&stdio.env),
                cwd: stdio
                    .cwd
                    .as_ref()
                    .map(|cwd| cwd.to_string_lossy().into_owned())
                    .unwrap_or_default(),
            }),
        };
        Self {
            name: server.name.clone(),
            transport: Some(transport),
        }
    }
}

impl TryFrom<v1::Server> for Server {
    type Error = Malformed;

    fn try_from(server: v1::Server) -> Result<Self, Malformed> {
        use v1::server::Transport as Wire;
        let transport = match required("transport", server.transport)? {
            Wire::Http(http) => Transport::Http(HttpServer {
                url: http.url,
                headers: http
                    .headers
                    .into_iter()
                    .map(|header| Header {
                        name: header.name,
                        value: header.value.into(),
                    })
                    .collect(),
                ca_pem: optional(http.ca_pem),
            }),
            Wire::Stdio(stdio) => Transport::Stdio(StdioServer {
                command: stdio.command,
                args: stdio.args,
                env: conceal(stdio.env),
                cwd: optional(stdio.cwd).map(PathBuf::from),
            }),
        };
        Ok(Self {
            name: server.name,
            transport,
        })
    }
}
