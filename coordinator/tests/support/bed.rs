//! A place of its own for one test.

use std::fs;
use std::net::TcpListener as StdListener;
use std::path::{Path, PathBuf};
use std::time::Duration;

use scripted_model::{RequestRecord, Scenarios, ScriptedModel};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::net::TcpListener;
use tokio::runtime::{Builder, Runtime};

use super::judge::{FakeJudge, Question, Verdict};
use super::processes::wait_until_gone;
use super::program::{Ran, Running, place_program};
use super::results::Results;
use super::server::{Answer, Asked, FakeServer};

/// The key that the model is shown. It opens nothing.
pub const MODEL_KEY: &str = "key-of-a-scripted-model";

/// A folder with a config, test cases and reports, a server and a model. Everything in it ends with it.
pub struct Bed {
    /// Written as the config before every start.
    pub config: Value,
    /// Environment of the program, on top of `PATH` and fresh homes.
    pub env: Vec<(String, String)>,
    folder: TempDir,
    program: PathBuf,
    model: ScriptedModel,
    servers: Vec<FakeServer>,
    runtime: Runtime,
    user: Option<u32>,
}

/// Debian's user for what is to own nothing.
const NOBODY: u32 = 65_534;

impl Bed {
    /// The weather server, a model that plays `scenarios`, the built-in agent, two attempts at most, turns of 30 seconds.
    pub fn new(scenarios: &str) -> Self {
        // Not in the temporary folder, where codex refuses to run its helpers.
        Self::below(Path::new(env!("CARGO_TARGET_TMPDIR")), scenarios)
    }

    /// The same, with a program that runs under an ordinary user: one without rights if this is root, else this one.
    pub fn of_an_ordinary_user(scenarios: &str) -> Self {
        // Where such a user is let in.
        let mut bed = Self::below(&std::env::temp_dir(), scenarios);
        if rustix::process::geteuid().is_root() {
            // Its own and no other name of the built one, whose owner is not to change.
            let copy = bed.path("copy");
            fs::copy(&bed.program, &copy).unwrap();
            fs::rename(&copy, &bed.program).unwrap();
            bed.user = Some(NOBODY);
        }
        bed
    }

    fn below(base: &Path, scenarios: &str) -> Self {
        let runtime = Builder::new_multi_thread()
            .worker_threads(2)
            .enable_all()
            .build()
            .unwrap();
        let folder = tempfile::Builder::new().prefix("bed-").tempdir_in(base).unwrap();
        let (model, server) = runtime.block_on(async {
            let model = TcpListener::bind("127.0.0.1:0").await.unwrap();
            let model = ScriptedModel::start(model, Scenarios::from_yaml(scenarios).unwrap()).unwrap();
            let server = TcpListener::bind("127.0.0.1:0").await.unwrap();
            let url = format!("http://{}{}", server.local_addr().unwrap(), weather_server::MCP_PATH);
            tokio::spawn(weather_server::serve(server, std::future::pending()));
            (model, url)
        });
        fs::create_dir(folder.path().join("testcases")).unwrap();
        let mut bed = Self {
            config: json!({
                "mcp": { "url": server },
                "testcases": { "path": "./testcases" },
                "run": { "iterations": 1, "maxAttempts": 2, "timeoutSeconds": 30, "concurrency": 2 },
                "report": { "outDir": "./reports" },
            }),
            env: Vec::new(),
            program: place_program(folder.path()),
            folder,
            model,
            servers: Vec::new(),
            runtime,
            user: None,
        };
        bed.config["run"]["agents"] = json!([bed.builtin()]);
        bed
    }

    /// Puts a server that answers as `answer` says in place of the weather server.
    pub fn serve(&mut self, answer: impl Fn(&Asked) -> Answer + Send + Sync + 'static) {
        let server = self.runtime.block_on(FakeServer::start(answer));
        self.config["mcp"]["url"] = json!(server.url());
        self.servers.push(server);
    }

    /// Gives the config a judge that answers as `mind` says.
    pub fn judge(&mut self, mind: impl Fn(&Question) -> Verdict + Send + Sync + 'static) -> FakeJudge {
        let judge = self.runtime.block_on(FakeJudge::start(mind));
        self.config["judge"] = json!({ "baseUrl": judge.url(), "model": "judge-1", "timeoutSeconds": 20 });
        judge
    }

    /// A test case with any keys.
    pub fn full_case(&self, name: &str, case: &Value) {
        fs::write(self.path(&format!("testcases/{name}.yaml")), case.to_string()).unwrap();
    }

    /// A test case without answers.
    pub fn case(&self, name: &str, prompt: &str, expected_tools: &[&str]) {
        self.case_with_answers(name, prompt, expected_tools, &[]);
    }

    /// A test case.
    pub fn case_with_answers(&self, name: &str, prompt: &str, expected_tools: &[&str], answers: &[&str]) {
        let case = json!({ "name": name, "prompt": prompt, "expectedTools": expected_tools, "answers": answers });
        fs::write(self.path(&format!("testcases/{name}.yaml")), case.to_string()).unwrap();
    }

    /// A path in the folder.
    pub fn path(&self, inside: &str) -> PathBuf {
        self.folder.path().join(inside)
    }

    /// The only agents of the run.
    pub fn agents(&mut self, agents: &[Value]) {
        self.config["run"]["agents"] = json!(agents);
    }

    /// The built-in agent, as a command that people could configure.
    pub fn builtin(&self) -> Value {
        let args = Self::builtin_args();
        let mut agent = self.command("builtin", &self.program.display().to_string(), &args);
        agent["resumeArgs"] = json!(args);
        agent["answer"] = json!({ "json": "/answer" });
        agent["modelApi"] = json!("chatCompletions");
        agent["baseUrl"] = json!(format!("{}/v1", self.model_url()));
        agent["apiKey"] = json!(MODEL_KEY);
        agent
    }

    /// What the built-in agent is started with.
    pub fn builtin_args() -> Vec<&'static str> {
        vec![
            "minimal-agent",
            "--mcp-config",
            "{mcp_config}",
            "--model-url",
            "{model_url}",
            "--model",
            "{model}",
            "--session",
            "{session}.json",
        ]
    }

    /// The built-in agent inside a shell script, in which `"$@"` runs it.
    pub fn around_builtin(&self, script: &str) -> Value {
        let mut agent = self.builtin();
        let own = self.program.display().to_string();
        let mut args = vec!["-c", script, "agent", &own];
        args.extend(Self::builtin_args());
        agent["command"] = json!("sh");
        agent["args"] = json!(args);
        agent["resumeArgs"] = json!(args);
        agent
    }

    /// Any command that asks no model, and whose answer is all that it prints.
    pub fn command(&self, name: &str, program: &str, args: &[&str]) -> Value {
        json!({ "kind": "command", "name": name, "model": "scripted-1", "command": program, "args": args })
    }

    /// The model's origin.
    pub fn model_url(&self) -> String {
        self.model.base_url()
    }

    /// What the model was asked.
    pub fn asked(&self) -> Vec<RequestRecord> {
        self.model.requests()
    }

    /// Where the reports and the store are.
    pub fn reports(&self) -> PathBuf {
        self.path("reports")
    }

    /// Runs the evaluation to its end, `extra` being further arguments.
    pub fn run(&self, extra: &[&str]) -> Ran {
        self.start(extra).wait()
    }

    /// Starts the evaluation.
    pub fn start(&self, extra: &[&str]) -> Running {
        let mut args = vec!["run", "-c", "eval.yaml"];
        if !extra.contains(&"--output") {
            args.extend(["--output", "plain"]);
        }
        args.extend(extra);
        self.start_program(&args)
    }

    /// Writes the config and starts the program with exactly these arguments.
    pub fn start_program(&self, args: &[&str]) -> Running {
        self.write_config(&self.path("eval.yaml"));
        Running::start(self.folder.path(), self.user, &self.env, args)
    }

    /// JSON is YAML.
    pub fn write_config(&self, path: &Path) {
        fs::write(path, serde_json::to_string_pretty(&self.config).unwrap()).unwrap();
    }

    /// Waits until no process of this bed is left: all of them know its folder.
    pub fn wait_until_nothing_runs(&self) {
        let name = self.folder.path().file_name().unwrap().to_str().unwrap();
        wait_until_gone(name, Duration::from_secs(15));
    }

    /// A file of the newest run's report.
    pub fn latest(&self, name: &str) -> String {
        fs::read_to_string(self.reports().join("latest").join(name)).unwrap()
    }

    /// What the newest run came to.
    pub fn results(&self) -> Results {
        Results::read(&self.reports().join("latest/results.json"))
    }
}

/// A loopback address where nothing listens.
pub fn unused_address() -> String {
    let listener = StdListener::bind("127.0.0.1:0").unwrap();
    listener.local_addr().unwrap().to_string()
}
