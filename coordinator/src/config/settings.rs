//! The second pass's result: a config with nothing left to look up.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use mcproctor_proto::agent::Agent;
use mcproctor_proto::server::Server;
use secrecy::SecretString;
use url::Url;

use super::address::address;
use super::gateway::GatewayAccess;
use super::limit_places::LimitPlaces;
use super::sandbox::SandboxSettings;
use crate::limits::Limits;
use crate::price::Prices;
use crate::record::{JudgeRecord, ServerRecord};
use crate::threshold::Thresholds;

/// A resolved config. `Debug` shows no secret.
#[derive(Clone)]
pub struct Config {
    /// The file it was read from, as the user named it.
    pub file: PathBuf,
    /// The servers under test; one in this version.
    pub servers: Vec<Server>,
    /// Where test cases come from.
    pub source: Source,
    /// How often, with which agents, within which limits.
    pub run: RunSettings,
    /// What is written, and where.
    pub report: ReportSettings,
    /// Who gives a second opinion on every iteration, if anybody does.
    pub judge: Option<JudgeSettings>,
    /// What tokens cost.
    pub prices: Prices,
    /// Things that the user should be told before the run and at the top of every report.
    pub notices: Vec<String>,
}

/// Where test cases come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// The YAML files of a folder.
    Filesystem {
        /// The folder, absolute.
        path: PathBuf,
    },
}

/// How often, with which agents, within which limits.
#[derive(Clone)]
pub struct RunSettings {
    /// Iterations of each cell, 1 to 100,000.
    pub iterations: u32,
    /// The agents in the order of the file; names are unique, and there is at least one.
    pub agents: Vec<Agent>,
    /// Hard limit of one turn.
    pub turn_timeout: Duration,
    /// Iterations at once; the number of cores when absent.
    pub concurrency: Option<u32>,
    /// Attempts at most per iteration, at least 1.
    pub max_attempts: u32,
    /// The seed of the order in which iterations are given out; chosen by the run when absent.
    pub seed: Option<u64>,
    /// What holds the agents, and what they may use there.
    pub sandbox: SandboxSettings,
    /// What the run has to reach.
    pub thresholds: Thresholds,
    /// What the run may use.
    pub limits: Limits,
    /// Where that is said.
    pub limit_places: LimitPlaces,
    /// How agents reach their models, if not with keys of their own.
    pub gateway: Option<GatewayAccess>,
}

/// What is written after a run, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReportSettings {
    /// The folder, absolute; it need not exist yet.
    pub out_dir: PathBuf,
    /// What is written; at least one.
    pub formats: Vec<ReportFormat>,
}

/// The model that gives a second opinion. `Debug` shows no key.
#[derive(Clone)]
pub struct JudgeSettings {
    /// Its API, up to what stands before `/chat/completions`.
    pub base_url: Url,
    /// The model asked for.
    pub model: String,
    /// The key, where the endpoint asks for one.
    pub api_key: Option<SecretString>,
    /// How long one request may take.
    pub timeout: Duration,
}

impl JudgeSettings {
    /// The endpoint without its query, which may hold a credential.
    pub fn shown_url(&self) -> String {
        let mut shown = self.base_url.clone();
        shown.set_query(None);
        shown.set_fragment(None);
        shown.to_string()
    }

    /// The judge as it is kept with a run.
    pub fn record(&self) -> JudgeRecord {
        JudgeRecord {
            base_url: self.shown_url(),
            model: self.model.clone(),
        }
    }
}

impl fmt::Debug for JudgeSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("JudgeSettings")
            .field("base_url", &self.shown_url())
            .field("model", &self.model)
            .field("timeout", &self.timeout)
            .finish_non_exhaustive()
    }
}

/// A form of the report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReportFormat {
    /// `report.html`, for people.
    Html,
    /// `results.json`, for programs.
    Json,
    /// `junit.xml`, for what reads test results.
    Junit,
    /// `summary.md`, for a CI job's summary and a comment on a pull request.
    Markdown,
}

impl ReportFormat {
    /// Every form.
    pub const ALL: [Self; 4] = [Self::Html, Self::Json, Self::Junit, Self::Markdown];

    /// The name in config files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Html => "html",
            Self::Json => "json",
            Self::Junit => "junit",
            Self::Markdown => "markdown",
        }
    }
}

impl Config {
    /// The servers as they are kept with a run.
    pub fn server_records(&self) -> Vec<ServerRecord> {
        let record = |server: &Server| ServerRecord {
            name: server.name.clone(),
            address: address(server),
        };
        self.servers.iter().map(record).collect()
    }
}

impl fmt::Debug for Config {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let servers: Vec<_> = self
            .servers
            .iter()
            .map(|server| (&server.name, address(server)))
            .collect();
        f.debug_struct("Config")
            .field("file", &self.file)
            .field("servers", &servers)
            .field("source", &self.source)
            .field("run", &self.run)
            .field("report", &self.report)
            .field("judge", &self.judge)
            .field("prices", &self.prices)
            .field("notices", &self.notices)
            .finish()
    }
}

impl fmt::Debug for RunSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Arguments and addresses may hold values of variables, so agents are shown by what cannot.
        let agents: Vec<_> = self
            .agents
            .iter()
            .map(|agent| (&agent.name, agent.kind, &agent.model))
            .collect();
        f.debug_struct("RunSettings")
            .field("iterations", &self.iterations)
            .field("agents", &agents)
            .field("turn_timeout", &self.turn_timeout)
            .field("concurrency", &self.concurrency)
            .field("max_attempts", &self.max_attempts)
            .field("seed", &self.seed)
            .field("sandbox", &self.sandbox)
            .field("thresholds", &self.thresholds)
            .field("limits", &self.limits)
            .field("gateway", &self.gateway.as_ref().map(|gateway| gateway.url.as_str()))
            .finish()
    }
}
