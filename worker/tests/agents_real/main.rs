//! The drivers on the real command lines, in a real sandbox, against a scripted model and a real MCP server.
//!
//! Slow beside unit tests: each starts real agents. They need `npm ci --prefix docker/agents`.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

#[path = "../support/again.rs"]
mod again;
mod both;
mod claude;
mod codex;
mod command;
mod levels;

use std::collections::BTreeMap;
use std::fs;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use mcproctor_proto::agent::{Agent, AgentKind, BuiltinTools, Credential};
use mcproctor_proto::assignment::{DEFAULT_IMAGE, SandboxLevel};
use mcproctor_worker::agent::{Driver, Exit, Place, Reading, driver};
use mcproctor_worker::sandbox::{Launcher, Limits, Output, OutputFiles, ProcessEnd, RunningProcess, Sandbox, Spec};
use scripted_model::{Scenarios, ScriptedModel};
use secrecy::SecretString;
use tempfile::TempDir;
use tokio::net::{TcpListener, TcpStream};
use tokio_util::sync::{CancellationToken, DropGuard};

/// The name of the server: a trap for whoever takes `__` for a border.
const SERVER: &str = "my__weather";

/// Longer than any turn here takes.
const PATIENCE: Duration = Duration::from_secs(90);

/// One agent in front of the weather server and a scripted model.
struct Seat {
    model: ScriptedModel,
    driver: Box<dyn Driver>,
    sandbox: Sandbox,
    files: OutputFiles,
    _stop: DropGuard,
    _base: TempDir,
}

impl Seat {
    async fn take(kind: AgentKind, scenario: &str, change: impl FnOnce(&mut Agent, &mut Place)) -> Self {
        Self::take_at(SandboxLevel::Process, kind, scenario, change).await
    }

    async fn take_at(
        level: SandboxLevel,
        kind: AgentKind,
        scenario: &str,
        change: impl FnOnce(&mut Agent, &mut Place),
    ) -> Self {
        point_to_installed_agents();
        let stop = CancellationToken::new();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let server = listener.local_addr().unwrap();
        tokio::spawn(weather_server::serve(listener, stop.clone().cancelled_owned()));
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let model = ScriptedModel::start(listener, Scenarios::from_yaml(scenario).unwrap()).unwrap();
        let base = tempfile::tempdir().unwrap();
        let mut sandbox = Sandbox::set_up(&base.path().join("sandboxes"), level, DEFAULT_IMAGE, &launcher()).unwrap();
        let mut agent = Agent {
            name: kind.to_string(),
            kind,
            model: Some(
                if kind == AgentKind::Claude {
                    "claude-sonnet-4-5"
                } else {
                    "gpt-5.1"
                }
                .to_owned(),
            ),
            args: Vec::new(),
            // Its own retries would only make these tests slow.
            env: BTreeMap::from([("CLAUDE_CODE_MAX_RETRIES".to_owned(), SecretString::from("0"))]),
            builtin_tools: BuiltinTools::None,
            tool_loading: None,
            base_url: None,
            credential: Credential::ApiKey(SecretString::from("sk-real")),
            command: None,
        };
        let mut place = Place {
            home: sandbox.home().to_owned(),
            work: sandbox.work().to_owned(),
            mcp_servers: vec![(
                SERVER.to_owned(),
                format!("http://{server}{}", weather_server::MCP_PATH),
            )],
            model_url: Some(model.base_url()),
            confined: level > SandboxLevel::Process,
            own_home: None,
            session: "00000000-0000-4000-8000-000000000001".to_owned(),
        };
        change(&mut agent, &mut place);
        for url in place
            .mcp_servers
            .iter_mut()
            .map(|(_, url)| url)
            .chain(&mut place.model_url)
        {
            *url = seen_from_inside(&mut sandbox, url);
        }
        let driver = driver(&agent, &place).unwrap();
        let files = OutputFiles {
            stdout: base.path().join("stdout"),
            stderr: base.path().join("stderr"),
        };
        Self {
            model,
            driver,
            sandbox,
            files,
            _stop: stop.drop_guard(),
            _base: base,
        }
    }

    fn start(&mut self, turn: u32, prompt: &str) -> RunningProcess {
        let invocation = self.driver.invocation(turn, prompt).unwrap();
        for file in &invocation.files {
            self.sandbox.write(&file.path, &file.contents).unwrap();
        }
        let spec = Spec {
            program: invocation.program,
            args: invocation.args,
            env: invocation.env,
            path: invocation.path,
            reads: Vec::new(),
            stdin: invocation.stdin,
            cwd: invocation.cwd,
        };
        self.sandbox.start(&spec, &self.files, Limits::default()).unwrap()
    }

    /// Holds a turn to its end.
    async fn turn(&mut self, turn: u32, prompt: &str) -> Reading {
        let mut process = self.start(turn, prompt);
        let begun = Instant::now();
        let end = loop {
            match tokio::time::timeout(PATIENCE, process.next()).await {
                Ok(Output::Line(line)) => drop(self.driver.line(&line)),
                Ok(Output::Ended(end)) => break end,
                Err(_) => panic!("no end in {:?}:\n{}", begun.elapsed(), self.transcript()),
            }
        };
        self.finish(end)
    }

    fn finish(&mut self, end: ProcessEnd) -> Reading {
        self.driver.finish(&Exit {
            code: end.code,
            signal: end.signal,
            output_fault: end.output_fault,
            stderr_tail: end.stderr_tail,
        })
    }

    /// The tools that the model was offered with the request at `index`.
    fn offered(&self, index: usize) -> Vec<String> {
        let requests = self.model.requests();
        let asked: Vec<_> = requests.iter().filter(|request| request.scenario.is_some()).collect();
        asked
            .get(index)
            .map(|request| request.tools.clone())
            .unwrap_or_default()
    }

    fn transcript(&self) -> String {
        [&self.files.stdout, &self.files.stderr]
            .map(|file| fs::read_to_string(file).unwrap_or_default())
            .concat()
    }
}

/// The address under which an agent in the sandbox finds what listens at `url`.
fn seen_from_inside(sandbox: &mut Sandbox, url: &str) -> String {
    let rest = url.strip_prefix("http://127.0.0.1:").unwrap();
    let (port, path) = rest.split_once('/').unwrap_or((rest, ""));
    let inside = sandbox.open_way(port.parse().unwrap()).unwrap();
    let slash = if rest.contains('/') { "/" } else { "" };
    format!("http://127.0.0.1:{inside}{slash}{path}")
}

/// The worker's program, which shuts itself in.
fn launcher() -> Launcher {
    let program = std::env::var_os(levels::LAUNCHER);
    Launcher::of(program.unwrap_or_else(|| env!("CARGO_BIN_EXE_mcproctor-worker").into()))
}

/// Where the agents of `docker/agents` are, unless the caller names others.
fn point_to_installed_agents() {
    static DONE: OnceLock<()> = OnceLock::new();
    DONE.get_or_init(|| {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docker/agents/node_modules/.bin");
        for (variable, program) in [("MCPROCTOR_CLAUDE", "claude"), ("MCPROCTOR_CODEX", "codex")] {
            if std::env::var_os(variable).is_none() {
                let path = folder.join(program);
                assert!(path.exists(), "install the agents: npm ci --prefix docker/agents");
                // SAFETY: every test comes by here before it starts anything, and waits until this is done.
                unsafe { std::env::set_var(variable, path) };
            }
        }
    });
}

/// A server that accepts at once and answers only after `delay`: its address.
async fn slow_to_answer(url: &str, delay: Duration) -> String {
    let upstream: SocketAddr = url
        .trim_start_matches("http://")
        .split('/')
        .next()
        .unwrap()
        .parse()
        .unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let open = tokio::time::Instant::now() + delay;
    tokio::spawn(async move {
        while let Ok((mut from, _)) = listener.accept().await {
            tokio::spawn(async move {
                tokio::time::sleep_until(open).await;
                let mut to = TcpStream::connect(upstream).await.unwrap();
                let _ = tokio::io::copy_bidirectional(&mut from, &mut to).await;
            });
        }
    });
    url.replace(&upstream.to_string(), &address.to_string())
}

/// Processes of the seat's sandbox: its name is in their environment.
fn processes_of(seat: &Seat) -> Vec<PathBuf> {
    let sandboxes = fs::read_dir(seat._base.path().join("sandboxes")).unwrap();
    let mut names = sandboxes.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let name = names.find(|name| name.starts_with("attempt-")).unwrap().into_bytes();
    let holds = |file: PathBuf| {
        fs::read(file).is_ok_and(|bytes| bytes.windows(name.len()).any(|window| window == name.as_slice()))
    };
    let entries = fs::read_dir("/proc").unwrap().flatten().map(|entry| entry.path());
    entries
        .filter(|process| holds(process.join("cmdline")) || holds(process.join("environ")))
        .collect()
}
