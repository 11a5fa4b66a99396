//! Everything that surrounds one agent, set up in order and taken down in the opposite one.

use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use mcproctor_proto::agent::{Agent, Credential};
use mcproctor_proto::assignment::{Assignment, SandboxLevel};
use mcproctor_proto::call::ToolCall;
use mcproctor_proto::evidence::EvidenceKind;
use mcproctor_proto::exposure::Exposure;
use mcproctor_proto::request::McpRequest;
use mcproctor_proto::traffic::ModelTraffic;
use tempfile::TempDir;
use url::Url;

use super::environment::Environment;
use super::records::{Cleared, TakeDownError};
use crate::agent::{AgentError, Driver, Place, driver};
use crate::endpoint::{Endpoint, EndpointError};
use crate::link::LinkError;
use crate::proxy::{CallObserver, ProxyOptions};
use crate::relay::{Meant, Pace, Relay, RelayError, RelayOptions};
use crate::sandbox::{OutputFiles, Sandbox, SandboxError};
use mcproctor_proto::redact::Redactor;

/// A gap without a byte from the model that is longer than this counts as waiting for it.
const SILENCE: Duration = Duration::from_secs(10);
/// But in a short turn a gap of this part of its time already does.
const SILENT_PART: u32 = 4;

/// Why an agent could not be seated.
#[derive(Debug, thiserror::Error)]
pub(super) enum SeatError {
    #[error("failed to make a folder for what is recorded: {0}")]
    Records(std::io::Error),
    #[error("failed to open the debug log: {0}")]
    DebugLog(std::io::Error),
    #[error("failed to set up the sandbox: {0}")]
    Sandbox(#[from] SandboxError),
    #[error(
        "failed to hold the agent in the sandbox `{0}`: its own login lies in your home folder; give it a key or a token, or use \
         `sandbox: process`"
    )]
    OwnLogin(SandboxLevel),
    #[error("failed to {0}")]
    Endpoint(#[from] EndpointError),
    #[error("failed to start the model relay: {0}")]
    Relay(#[from] RelayError),
    #[error("failed to read the model's address {0}: {1}")]
    Address(String, url::ParseError),
    #[error("failed to prepare the agent: {0}")]
    Agent(#[from] AgentError),
}

/// What the proxies recorded of a turn.
#[derive(Default)]
pub(super) struct Told {
    /// Its calls.
    pub(super) calls: Vec<ToolCall>,
    /// Its requests that are no calls.
    pub(super) requests: Vec<McpRequest>,
    /// Every server as seen so far.
    pub(super) exposures: Vec<Exposure>,
}

/// Everything that surrounds one agent.
pub(super) struct Seat {
    pub(super) driver: Box<dyn Driver>,
    pub(super) sandbox: Sandbox,
    pub(super) output: OutputFiles,
    pub(super) endpoints: Vec<Endpoint>,
    pub(super) relay: Option<Relay>,
    /// Knows everything that is secret about the attempt.
    pub(super) redactor: Arc<Redactor>,
    records: TempDir,
}

impl Seat {
    /// Sets up sandbox, servers, relay and driver.
    pub(super) async fn set_up(
        assignment: &Assignment,
        environment: &Environment,
        observer: impl Fn() -> Box<dyn CallObserver>,
    ) -> Result<Self, SeatError> {
        if assignment.sandbox > SandboxLevel::Process && matches!(assignment.agent.credential, Credential::OwnLogin) {
            return Err(SeatError::OwnLogin(assignment.sandbox));
        }
        let mut sandbox = Sandbox::set_up(
            &environment.base,
            assignment.sandbox,
            &assignment.image,
            &environment.launcher,
        )?;
        let records = sandbox.records()?;
        let redactor = Arc::new(Redactor::of_attempt(assignment));
        let mut endpoints = Vec::new();
        for (index, server) in assignment.servers.iter().enumerate() {
            let spill = records.path().join(format!("server-{index}"));
            std::fs::create_dir(&spill).map_err(SeatError::Records)?;
            let debug_log = environment
                .debug_log
                .as_deref()
                .filter(|_| assignment.debug)
                .map(open_debug_log);
            let debug_log = debug_log.transpose().map_err(SeatError::DebugLog)?;
            let configure = |options: &mut ProxyOptions| {
                options.debug_log = debug_log;
                options.observer = Some(observer());
                options.redactor = Some(Arc::clone(&redactor));
            };
            endpoints.push(Endpoint::start(server, &spill, configure).await?);
        }
        let silence = SILENCE.min(assignment.turn_timeout / SILENT_PART);
        let relay = start_relay(assignment, silence, &environment.pace).await?;
        let mut mcp_servers = Vec::new();
        for (server, endpoint) in assignment.servers.iter().zip(&endpoints) {
            mcp_servers.push((
                server.name.clone(),
                seen_from_inside(&mut sandbox, endpoint.proxy.url())?,
            ));
        }
        let model_url = match &relay {
            Some(relay) => {
                let url = seen_from_inside(&mut sandbox, &relay.base_url())?;
                Some(url.trim_end_matches("/v1").to_owned())
            }
            None => None,
        };
        let place = Place {
            home: sandbox.home().to_owned(),
            work: sandbox.work().to_owned(),
            mcp_servers,
            model_url,
            confined: sandbox.level() > SandboxLevel::Process,
            own_home: match assignment.agent.credential {
                Credential::OwnLogin => environment.own_home.clone(),
                _ => None,
            },
            session: session_id(),
        };
        let driver = driver(&assignment.agent, &place)?;
        let output = OutputFiles {
            stdout: records.path().join("stdout"),
            stderr: records.path().join("stderr"),
        };
        Ok(Self {
            driver,
            sandbox,
            output,
            endpoints,
            relay,
            redactor,
            records,
        })
    }

    /// What the proxies recorded of a turn, and every server as seen so far.
    pub(super) async fn recorded(&self, turn: u32) -> Told {
        let mut told = Told::default();
        for endpoint in &self.endpoints {
            let snapshot = endpoint.proxy.snapshot().await;
            told.calls
                .extend(snapshot.calls.into_iter().filter(|call| call.turn == turn));
            let requests = snapshot.requests.into_iter();
            told.requests.extend(requests.filter(|request| request.turn == turn));
            told.exposures.push(snapshot.exposure);
        }
        told
    }

    /// What is known of the model so far.
    pub(super) fn traffic(&self) -> ModelTraffic {
        let traffic = self.relay.as_ref().map(Relay::traffic).unwrap_or_default();
        without_secrets(traffic, &self.redactor)
    }

    /// Stops everything.
    pub(super) async fn clear(self) -> Result<Cleared, TakeDownError> {
        let Self {
            driver,
            sandbox,
            output,
            endpoints,
            relay,
            redactor,
            records,
        } = self;
        drop(driver);
        for endpoint in &endpoints {
            endpoint.proxy.agent_is_being_stopped();
        }
        // The agent's processes go first, so that nothing is recorded that no agent did.
        sandbox.end_processes().await;
        let traffic = match relay {
            Some(relay) => without_secrets(relay.stop().await, &redactor),
            None => ModelTraffic::default(),
        };
        let mut calls = Vec::new();
        let mut requests = Vec::new();
        let mut exposures = Vec::new();
        let mut files: Vec<(EvidenceKind, PathBuf)> = vec![
            (EvidenceKind::Transcript, output.stdout),
            (EvidenceKind::Stderr, output.stderr),
        ];
        for (index, endpoint) in endpoints.into_iter().enumerate() {
            let recorded = endpoint.proxy.finish().await?;
            calls.extend(recorded.calls);
            requests.extend(recorded.requests);
            exposures.push(recorded.exposure);
            files.extend(recorded.calls_file.map(|file| (EvidenceKind::Calls, file)));
            files.extend(recorded.wire_file.map(|file| (EvidenceKind::Wire, file)));
            if let Some(bridge) = endpoint.bridge {
                bridge.stop().await;
            }
            if let Some(list) = recorded.tool_list {
                let path = records.path().join(format!("tools-{index}.json"));
                write(&path, &list).await?;
                files.push((EvidenceKind::ToolList, path));
            }
        }
        Ok(Cleared {
            sandbox,
            redactor,
            calls,
            requests,
            exposures,
            traffic,
            files,
            folder: records,
        })
    }
}

/// The address under which the agent finds what listens at `url`, a loopback address of the worker's.
fn seen_from_inside(sandbox: &mut Sandbox, url: &str) -> Result<String, SeatError> {
    let failed = |error| SeatError::Address(url.to_owned(), error);
    let mut address = Url::parse(url).map_err(failed)?;
    let Some(port) = address.port_or_known_default() else {
        return Err(failed(url::ParseError::InvalidPort));
    };
    let inside = sandbox.open_way(port)?;
    if inside == port {
        return Ok(url.to_owned());
    }
    address
        .set_port(Some(inside))
        .map_err(|()| failed(url::ParseError::InvalidPort))?;
    Ok(address.to_string())
}

/// The arguments of a command agent that are absolute paths of what is there: its script, say. Whoever wrote the config has
/// named them, so the agent may read them in every sandbox.
pub(super) fn named_files(agent: &Agent) -> Vec<PathBuf> {
    let Some(command) = &agent.command else {
        return Vec::new();
    };
    let arguments = agent.args.iter().chain(command.resume_args.iter().flatten());
    let mut files: Vec<PathBuf> = arguments
        .map(PathBuf::from)
        .filter(|path| path.is_absolute() && path.is_file())
        .collect();
    files.sort();
    files.dedup();
    files
}

fn open_debug_log(path: &Path) -> std::io::Result<Box<dyn std::io::Write + Send>> {
    let file = std::fs::OpenOptions::new()
        .create(true)
        .append(true)
        .mode(0o600)
        .open(path)?;
    Ok(Box::new(file))
}

async fn write(path: &Path, bytes: &[u8]) -> Result<(), LinkError> {
    tokio::fs::write(path, bytes)
        .await
        .map_err(|source| LinkError::Evidence {
            path: EvidenceKind::ToolList.name().to_owned(),
            source,
        })
}

fn without_secrets(mut traffic: ModelTraffic, redactor: &Redactor) -> ModelTraffic {
    if let Some(refusal) = &mut traffic.refusal {
        refusal.message = redactor.text(std::mem::take(&mut refusal.message));
    }
    for tool in traffic.tools_sent.iter_mut().chain(&mut traffic.tools_deferred) {
        *tool = redactor.name(std::mem::take(tool));
    }
    traffic
}

/// The relay of an agent that has a key, or that talks to a model without one.
async fn start_relay(assignment: &Assignment, silence: Duration, pace: &Arc<Pace>) -> Result<Option<Relay>, SeatError> {
    let agent = &assignment.agent;
    if matches!(agent.credential, Credential::OwnLogin) {
        return Ok(None);
    }
    let Some(api) = agent.model_api() else {
        return Ok(None);
    };
    let dialect = api.dialect();
    let address = agent.base_url.as_deref().unwrap_or(dialect.makers_api());
    let upstream = Url::parse(address).map_err(|error| SeatError::Address(address.to_owned(), error))?;
    let options = RelayOptions {
        dialect,
        upstream,
        credential: agent.credential.clone(),
        meant: Meant {
            model: agent.model.clone(),
            endpoint: Some(api.endpoint()),
        },
        silence,
        allowance: assignment.allowance,
        ca_pem: assignment.model_ca_pem.clone(),
        pace: Arc::clone(pace),
    };
    Ok(Some(Relay::start(options).await?))
}

/// A random UUID, version 4 (RFC 9562, section 5.4).
fn session_id() -> String {
    let mut bytes: [u8; 16] = rand::random();
    bytes[6] = (bytes[6] & 0x0f) | 0x40;
    bytes[8] = (bytes[8] & 0x3f) | 0x80;
    let hex = hex::encode(bytes);
    format!(
        "{}-{}-{}-{}-{}",
        &hex[..8],
        &hex[8..12],
        &hex[12..16],
        &hex[16..20],
        &hex[20..]
    )
}
