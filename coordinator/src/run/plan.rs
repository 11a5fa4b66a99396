//! What a run is going to do, written down before it begins.

use mcproctor_proto::agent::{Agent, AgentKind, BuiltinTools, Credential};
use mcproctor_proto::assignment::SandboxLevel;
use mcproctor_proto::id::RunId;
use sha2::{Digest, Sha256};

use crate::config::Config;
use crate::loading;
use crate::record::{AgentRecord, RunRecord, TestCaseRecord};
use crate::testcase::{TestCase, fingerprint};

/// A run before it begins.
#[derive(Clone, Debug)]
pub struct PlannedRun {
    /// What is stored of it.
    pub record: RunRecord,
    /// How many attempts run at once.
    pub concurrency: u32,
}

/// Plans a run of every agent with every test case. `version` gives the version of an agent's program, where it has
/// one, and `sandbox` what holds the agent of a name; containers are made of `image`.
pub fn plan(
    config: &Config,
    cases: &[TestCase],
    version: impl Fn(AgentKind) -> Option<String>,
    sandbox: impl Fn(&str) -> SandboxLevel,
    image: Option<&str>,
    now_unix_ms: i64,
) -> PlannedRun {
    let agents = config
        .run
        .agents
        .iter()
        .map(|agent| {
            let sandbox = sandbox(&agent.name);
            AgentRecord {
                version: version(agent.kind),
                image: image.filter(|_| sandbox == SandboxLevel::Container).map(str::to_owned),
                price: agent.model.as_deref().and_then(|model| config.prices.found(model)),
                ..agent_record(agent, sandbox)
            }
        })
        .collect();
    let mut notices = config.notices.clone();
    for agent in &config.run.agents {
        if matches!(agent.credential, Credential::OwnLogin) {
            notices.push(format!(
                "agent {}: own login, not isolated; it runs in your own home folder and its model traffic is not seen",
                agent.name
            ));
        }
        notices.extend(loading::notice(agent));
    }
    let record = RunRecord {
        id: run_id(now_unix_ms),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        started_at_unix_ms: now_unix_ms,
        config_file: config.file.display().to_string(),
        config_sha256: fingerprint_of_run(config, cases),
        servers: config.server_records(),
        agents,
        test_cases: cases.iter().map(TestCaseRecord::from).collect(),
        iterations: config.run.iterations,
        max_attempts: config.run.max_attempts,
        seed: config.run.seed.unwrap_or_else(|| u64::from(rand::random::<u32>())),
        notices,
        thresholds: config.run.thresholds,
        judge: config.judge.as_ref().map(crate::config::JudgeSettings::record),
        graded_from: None,
        stopped: None,
    };
    PlannedRun {
        record,
        concurrency: config.run.concurrency.unwrap_or_else(cores),
    }
}

/// What the config alone says of an agent.
fn agent_record(agent: &Agent, sandbox: SandboxLevel) -> AgentRecord {
    AgentRecord {
        name: agent.name.clone(),
        kind: agent.kind.name().to_owned(),
        model: agent.model.clone(),
        version: None,
        sandbox,
        image: None,
        builtin_tools: match agent.builtin_tools {
            BuiltinTools::None => "none",
            BuiltinTools::Default => "default",
        }
        .to_owned(),
        tool_loading: agent.tool_loading,
        own_login: matches!(agent.credential, Credential::OwnLogin),
        price: None,
    }
}

/// What a resumed run has to agree with.
pub(super) fn fingerprint_of_run(config: &Config, cases: &[TestCase]) -> String {
    let mut hash = Sha256::new();
    hash.update(config.fingerprint());
    hash.update(fingerprint(cases));
    hex::encode(hash.finalize())
}

/// The start in UTC and four random digits, so that names sort by time.
pub(super) fn run_id(now_unix_ms: i64) -> RunId {
    let start = jiff::Timestamp::from_millisecond(now_unix_ms).unwrap_or_default();
    RunId::new(format!(
        "{}-{:04x}",
        start.strftime("%Y-%m-%dT%H-%M-%S"),
        rand::random::<u16>()
    ))
}

fn cores() -> u32 {
    std::thread::available_parallelism().map_or(1, |cores| u32::try_from(cores.get()).unwrap_or(1))
}
