//! `mcproctor demo`: the main job with nothing installed and no account.
//!
//! The demo weather server and the scripted model run inside this process; everything else is what a real run uses: the
//! same services, workers, proxy, relay and reports.

use std::collections::BTreeMap;
use std::path::PathBuf;

use clap::ValueEnum;
use mcproctor_proto::agent::{
    Agent, AgentKind, AnswerFormat, BuiltinTools, CommandAgent, Credential, ModelApi, PromptInput,
};
use mcproctor_proto::server::{HttpServer, Server, Transport};
use scripted_model::{Scenarios, ScriptedModel};
use tokio::net::TcpListener;

use super::exit::Exit;
use super::run::{Invocation, Output, run_evaluation};
use super::runtime::{block_on, chain, complain};
use crate::config::{Config, LimitPlaces, ReportFormat, ReportSettings, RunSettings, SandboxSettings, Source};
use crate::limits::Limits;
use crate::price::Prices;
use crate::source::MemorySource;
use crate::testcase::{self, TestCase};
use crate::threshold::Thresholds;

/// The key that the demo's model is shown. It opens nothing.
const DEMO_KEY: &str = "demo-key-that-opens-nothing";
/// The model that the demo's agents ask for; any name would do.
const DEMO_MODEL: &str = "scripted";
/// How long a turn of the demo may take.
const TURN_TIMEOUT: std::time::Duration = std::time::Duration::from_secs(120);

const CASES: [(&str, &str); 4] = [
    (
        "ask-first.yaml",
        include_str!("../../../examples/testcases/ask-first.yaml"),
    ),
    (
        "compare-forecasts.yaml",
        include_str!("../../../examples/testcases/compare-forecasts.yaml"),
    ),
    (
        "current-weather.yaml",
        include_str!("../../../examples/testcases/current-weather.yaml"),
    ),
    (
        "list-cities.yaml",
        include_str!("../../../examples/testcases/list-cities.yaml"),
    ),
];

/// Arguments of `mcproctor demo`.
#[derive(Debug, clap::Args)]
pub(super) struct DemoArgs {
    /// The agent; the built-in one needs nothing installed, the others need their command line (but no account).
    #[arg(long = "agent", value_name = "AGENT", default_value = "builtin")]
    agents: Vec<DemoAgent>,
    /// Executions of each test case with each agent.
    #[arg(short, long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    iterations: u32,
    /// Iterations at once; the number of cores by default.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=4096))]
    concurrency: Option<u32>,
    /// Worker processes that share the iterations.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=256))]
    workers: u32,
    /// Where the report goes.
    #[arg(long, value_name = "DIR", default_value = "./reports")]
    out_dir: PathBuf,
    /// What to show: a live view, plain lines, or a JSON object a line.
    #[arg(long, value_name = "FORM")]
    output: Option<Output>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum DemoAgent {
    /// The built-in agent.
    Builtin,
    /// Claude Code.
    Claude,
    /// OpenAI Codex.
    Codex,
}

pub(super) fn run(args: DemoArgs) -> Exit {
    block_on(async {
        match prepare(&args).await {
            Err(message) => complain(Exit::Failure, &message),
            Ok((config, cases, parts)) => {
                let invocation = Invocation {
                    resume: None,
                    earlier: None,
                    resume_hint: None,
                    workers: args.workers,
                    output: args.output,
                    debug: false,
                };
                let exit = run_evaluation(config, cases, invocation).await;
                drop(parts);
                exit
            }
        }
    })
}

/// The server and the model of the demo; dropping them stops them.
struct Parts {
    _model: ScriptedModel,
    _server: tokio_util::task::AbortOnDropHandle<std::io::Result<()>>,
}

async fn prepare(args: &DemoArgs) -> Result<(Config, Vec<TestCase>, Parts), String> {
    let failed = |what: &str, error: &dyn std::error::Error| format!("failed to start {what}: {}", chain(error));
    let loopback = || TcpListener::bind(("127.0.0.1", 0));

    let listener = loopback().await.map_err(|error| failed("the weather server", &error))?;
    let address = listener
        .local_addr()
        .map_err(|error| failed("the weather server", &error))?;
    let server = tokio::spawn(weather_server::serve(listener, std::future::pending()));

    let scenarios = Scenarios::demo().map_err(|error| failed("the scripted model", &error))?;
    let listener = loopback().await.map_err(|error| failed("the scripted model", &error))?;
    let model = ScriptedModel::start(listener, scenarios).map_err(|error| failed("the scripted model", &error))?;

    let out_dir = std::path::absolute(&args.out_dir).map_err(|error| failed("the report folder", &error))?;
    let mut agents = Vec::new();
    for agent in &args.agents {
        let agent = demo_agent(*agent, &model.base_url())?;
        if !agents.iter().any(|known: &Agent| known.name == agent.name) {
            agents.push(agent);
        }
    }
    let config = Config {
        file: PathBuf::from("(demo)"),
        servers: vec![Server {
            name: "weather".to_owned(),
            transport: Transport::Http(HttpServer {
                url: format!("http://{address}{}", weather_server::MCP_PATH),
                headers: Vec::new(),
                ca_pem: None,
            }),
        }],
        source: Source::Filesystem {
            path: PathBuf::from("(built in)"),
        },
        run: RunSettings {
            iterations: args.iterations,
            agents,
            turn_timeout: TURN_TIMEOUT,
            concurrency: args.concurrency,
            max_attempts: 3,
            seed: None,
            sandbox: SandboxSettings::default(),
            thresholds: Thresholds::default(),
            limits: Limits::default(),
            limit_places: LimitPlaces::default(),
            gateway: None,
        },
        report: ReportSettings {
            out_dir,
            formats: ReportFormat::ALL.to_vec(),
        },
        judge: None,
        prices: Prices::default(),
        notices: vec!["demo: the model is scripted, so these rates say nothing about any real model".to_owned()],
    };
    let cases = testcase::load(&MemorySource::new(CASES)).map_err(|errors| errors.to_string())?;
    let parts = Parts {
        _model: model,
        _server: tokio_util::task::AbortOnDropHandle::new(server),
    };
    Ok((config, cases, parts))
}

fn demo_agent(kind: DemoAgent, model_url: &str) -> Result<Agent, String> {
    let (name, kind, base_url, command, args) = match kind {
        DemoAgent::Claude => ("claude", AgentKind::Claude, model_url.to_owned(), None, Vec::new()),
        DemoAgent::Codex => ("codex", AgentKind::Codex, format!("{model_url}/v1"), None, Vec::new()),
        DemoAgent::Builtin => {
            let program = std::env::current_exe()
                .map_err(|error| format!("failed to find its own program: {error}"))?
                .display()
                .to_string();
            let args = [
                "minimal-agent",
                "--mcp-config",
                "{mcp_config}",
                "--model-url",
                "{model_url}",
                "--model",
                "{model}",
                "--session",
                "{session}.json",
            ];
            let args: Vec<String> = args.into_iter().map(str::to_owned).collect();
            let command = CommandAgent {
                program,
                prompt: PromptInput::Stdin,
                answer: AnswerFormat::Json("/answer".to_owned()),
                resume_args: Some(args.clone()),
                model_api: Some(ModelApi::ChatCompletions),
            };
            (
                "builtin",
                AgentKind::Command,
                format!("{model_url}/v1"),
                Some(command),
                args,
            )
        }
    };
    Ok(Agent {
        name: name.to_owned(),
        kind,
        model: Some(DEMO_MODEL.to_owned()),
        args,
        env: BTreeMap::new(),
        builtin_tools: BuiltinTools::None,
        tool_loading: None,
        base_url: Some(base_url),
        credential: Credential::ApiKey(DEMO_KEY.to_owned().into()),
        command,
    })
}
