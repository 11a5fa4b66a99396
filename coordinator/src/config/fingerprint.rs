//! What makes two configs the same evaluation.

use std::collections::BTreeMap;

use mcproctor_proto::agent::{Agent, AnswerFormat, BuiltinTools, Credential, PromptInput, ToolLoading};
use mcproctor_proto::assignment::SandboxLevel;
use mcproctor_proto::server::{Server, Transport};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::address::address;
use super::sandbox::SandboxSettings;
use super::settings::{Config, Source};

impl Config {
    /// SHA-256, in hex, of everything that decides what an iteration is: servers, source, agents, iterations, limits,
    /// judge.
    ///
    /// Secrets are not in it, so that a rotated key resumes a run, and neither is what changes only how fast or where to:
    /// concurrency, report folder and formats.
    pub fn fingerprint(&self) -> String {
        let Source::Filesystem { path } = &self.source;
        let gateway = self.run.gateway.as_ref();
        let model_of = |agent: &Agent| gateway.and_then(|gateway| gateway.models.get(&agent.name));
        let agents: Vec<Value> = self.run.agents.iter().map(|one| agent(one, model_of(one))).collect();
        let document = json!({
            "servers": self.servers.iter().map(server).collect::<Vec<_>>(),
            "source": {"filesystem": path.to_string_lossy()},
            "iterations": self.run.iterations,
            "agents": agents,
            "turnTimeoutSeconds": self.run.turn_timeout.as_secs(),
            "maxAttempts": self.run.max_attempts,
            "seed": self.run.seed,
            "sandbox": sandbox(&self.run.sandbox),
            "judge": self.judge.as_ref().map(|judge| json!({"baseUrl": judge.shown_url(), "model": judge.model})),
        });
        // Keys of a JSON object are written in order, so one config has one text.
        hex::encode(Sha256::digest(document.to_string().as_bytes()))
    }
}

fn sandbox(settings: &SandboxSettings) -> Value {
    let of_agents = settings.of_agents.iter();
    json!({
        "level": settings.level.map(SandboxLevel::name),
        "ofAgents": of_agents.map(|(agent, level)| (agent, level.name())).collect::<BTreeMap<_, _>>(),
        "image": settings.image,
        "resources": settings.resources,
    })
}

fn server(server: &Server) -> Value {
    let transport = match &server.transport {
        Transport::Http(http) => json!({
            "url": address(server),
            "headers": http.headers.iter().map(|header| header.name.to_ascii_lowercase()).collect::<Vec<_>>(),
        }),
        Transport::Stdio(stdio) => json!({
            "command": stdio.command,
            "args": stdio.args,
            "env": stdio.env.keys().collect::<Vec<_>>(),
            "cwd": stdio.cwd.as_ref().map(|cwd| cwd.to_string_lossy()),
        }),
    };
    json!({"name": server.name, "transport": transport})
}

fn agent(agent: &Agent, gateway_model: Option<&String>) -> Value {
    json!({
        "name": agent.name,
        "kind": agent.kind.name(),
        "model": agent.model,
        "args": agent.args,
        "env": agent.env.keys().collect::<Vec<_>>(),
        "builtinTools": match agent.builtin_tools {
            BuiltinTools::None => "none",
            BuiltinTools::Default => "default",
        },
        "toolLoading": agent.tool_loading.map(|loading| match loading {
            ToolLoading::Upfront => "upfront",
            ToolLoading::Deferred => "deferred",
        }),
        "baseUrl": agent.base_url,
        "gatewayModel": gateway_model,
        "ownLogin": matches!(agent.credential, Credential::OwnLogin),
        "command": agent.command.as_ref().map(|command| json!({
            "program": command.program,
            "prompt": match command.prompt {
                PromptInput::Stdin => "stdin",
                PromptInput::Argument => "argument",
            },
            "answer": match &command.answer {
                AnswerFormat::Text => json!("text"),
                AnswerFormat::Json(pointer) => json!({"json": pointer}),
                AnswerFormat::JsonLines(pointer) => json!({"jsonLines": pointer}),
            },
            "resumeArgs": command.resume_args,
            "modelApi": command.model_api.map(|api| format!("{api:?}")),
        })),
    })
}
