//! The scripts of the GitHub Action, run as a workflow runs them: the real program, and a stand-in for the API.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod support;

use std::collections::BTreeMap;
use std::fs;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, Method, StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::runtime::Runtime;

use support::Bed;

const TOKEN: &str = "token-that-opens-nothing";

fn script(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../deploy/github-action")
        .join(name)
}

fn need(program: &str) {
    let found = Command::new(program).arg("--version").output();
    assert!(found.is_ok(), "{program} is missing: apt-get install {program}");
}

/// Runs a script with nothing in its environment but this and what finds programs.
fn run(name: &str, cwd: &Path, env: &[(&str, &str)]) -> Output {
    Command::new("bash")
        .arg(script(name))
        .current_dir(cwd)
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap())
        .env("HOME", cwd)
        .envs(env.iter().copied())
        .output()
        .unwrap()
}

/// One evaluation with the agent's tool called or not; gives the exit code, the outputs and the step summary.
fn evaluate(bed: &Bed, args: &str, rate: &str) -> (Output, BTreeMap<String, String>, String) {
    bed.write_config(&bed.path("eval.yaml"));
    let (outputs, summary) = (bed.path("outputs"), bed.path("summary"));
    fs::write(&outputs, "").unwrap();
    fs::write(&summary, "").unwrap();
    let program = bed.path("mcproctor");
    let ran = run(
        "evaluate",
        &bed.path(""),
        &[
            ("MCPROCTOR", program.to_str().unwrap()),
            ("MCPROCTOR_CONFIG", "eval.yaml"),
            ("MCPROCTOR_ARGS", args),
            ("MCPROCTOR_MIN_PASS_RATE", rate),
            ("MCPROCTOR_THRESHOLD_ON", "rate"),
            ("GITHUB_OUTPUT", outputs.to_str().unwrap()),
            ("GITHUB_STEP_SUMMARY", summary.to_str().unwrap()),
        ],
    );
    let outputs = fs::read_to_string(&outputs).unwrap();
    let outputs = outputs
        .lines()
        .filter_map(|line| line.split_once('='))
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect();
    (ran, outputs, fs::read_to_string(&summary).unwrap())
}

#[test]
fn an_evaluation_leaves_its_summary_and_its_exit_code_for_the_gate() {
    let mut bed = Bed::new(
        "scenarios: [{when: weather, steps: [{call: {tool: get_current_weather, arguments: {city: Vienna}}}, {answer: Sunny.}]}, {when: hello, steps: [{answer: Hello.}]}]",
    );
    bed.case(
        "current weather",
        "What is the weather in Vienna?",
        &["get_current_weather"],
    );
    // A folder whose name has to be encoded in a URL.
    bed.config["report"]["outDir"] = json!("./re ports%41ü");

    let (ran, outputs, summary) = evaluate(&bed, "--iterations\n5\n", "90%");
    let log = String::from_utf8_lossy(&ran.stdout).into_owned() + &String::from_utf8_lossy(&ran.stderr);
    assert!(ran.status.success(), "{log}");
    assert_eq!(outputs["exit-code"], "0", "{log}");
    let folder = Path::new(&outputs["report"]);
    assert!(folder.join("report.html").is_file(), "{outputs:?}");
    assert_eq!(folder.file_name().unwrap().to_str(), Some(outputs["run"].as_str()));
    assert!(folder.starts_with(bed.path("re ports%41ü").canonicalize().unwrap()));
    let written = fs::read_to_string(folder.join("summary.md")).unwrap();
    assert_eq!(summary, written);

    bed.case("never called", "Say hello.", &["get_forecast"]);
    let (ran, outputs, summary) = evaluate(&bed, "--iterations\n5\n", "90%");
    assert!(ran.status.success(), "the gate is a step of its own");
    assert_eq!(outputs["exit-code"], "1");
    assert!(
        summary.contains("threshold not met: agent builtin, suite: 5 of 10 passed"),
        "{summary}"
    );

    let (_, outputs, summary) = evaluate(&bed, "--no-such-option", "90%");
    assert_eq!(outputs["exit-code"], "2");
    assert!(
        !outputs.contains_key("report") && summary.contains("--no-such-option"),
        "{summary}"
    );
}

/// A request that reached the API: method, path with query, the sent body.
type Seen = (Method, String, Value);

#[derive(Clone)]
struct Api {
    comments: Arc<Vec<Value>>,
    refuse: bool,
    seen: Arc<Mutex<Vec<Seen>>>,
}

async fn answer(State(api): State<Api>, method: Method, uri: Uri, headers: HeaderMap, body: Bytes) -> Response {
    assert_eq!(headers["authorization"], format!("Bearer {TOKEN}"));
    let page: usize = uri
        .query()
        .and_then(|query| query.rsplit_once("page="))
        .map_or(1, |(_, page)| page.parse().unwrap());
    let sent = serde_json::from_slice(&body).unwrap_or(Value::Null);
    let reading = method == Method::GET;
    api.seen.lock().unwrap().push((method, uri.to_string(), sent));
    if api.refuse {
        return (StatusCode::FORBIDDEN, "Resource not accessible by integration").into_response();
    }
    if reading {
        let of_page: Vec<&Value> = api.comments.iter().skip((page - 1) * 100).take(100).collect();
        return axum::Json(json!(of_page)).into_response();
    }
    axum::Json(json!({ "id": 1 })).into_response()
}

/// Comments with the summary `text`; gives what reached the API and what was printed.
fn comment(comments: Vec<Value>, refuse: bool, text: Option<&str>) -> (Vec<Seen>, Output) {
    ["curl", "jq"].into_iter().for_each(need);
    let runtime = Runtime::new().unwrap();
    let api = Api {
        comments: Arc::new(comments),
        refuse,
        seen: Arc::default(),
    };
    let seen = Arc::clone(&api.seen);
    let address: SocketAddr = runtime.block_on(async {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let router = Router::new().fallback(answer).with_state(api);
        tokio::spawn(async move { axum::serve(listener, router).await });
        address
    });
    let report = tempfile::tempdir().unwrap();
    if let Some(text) = text {
        fs::write(report.path().join("summary.md"), text).unwrap();
    }
    let url = format!("http://{address}");
    let ran = run(
        "comment",
        report.path(),
        &[
            ("GITHUB_API_URL", &url),
            ("GITHUB_REPOSITORY", "someone/server"),
            ("GITHUB_TOKEN", TOKEN),
            ("PULL_REQUEST", "7"),
            ("MCPROCTOR_CONFIG", "evals/my eval.yaml"),
            ("REPORT", report.path().to_str().unwrap()),
        ],
    );
    let seen = std::mem::take(&mut *seen.lock().unwrap());
    (seen, ran)
}

const MARKER: &str = "<!-- mcproctor: evals/my_eval.yaml -->";

fn bot_comment(id: u64, body: &str) -> Value {
    json!({ "id": id, "user": { "type": "Bot" }, "body": body })
}

#[test]
fn the_first_comment_is_new_and_the_next_one_replaces_it() {
    let text = "# 5 of 10 passed\n\n\"quotes\", `ticks` and $(nothing)\n";
    let (seen, ran) = comment(vec![], false, Some(text));
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    let (method, path, sent) = seen.last().unwrap();
    assert_eq!(
        (method, path.as_str()),
        (&Method::POST, "/repos/someone/server/issues/7/comments")
    );
    assert_eq!(sent["body"], format!("{MARKER}\n{text}"));

    // Behind a hundred others, and after one that a person has copied.
    let mut comments: Vec<Value> = (1..=100)
        .map(|id| bot_comment(id, "<!-- mcproctor: other.yaml -->"))
        .collect();
    comments.push(json!({ "id": 500, "user": { "type": "User" }, "body": MARKER }));
    comments.push(bot_comment(501, &format!("{MARKER}\nold")));
    let (seen, ran) = comment(comments, false, Some(text));
    assert!(ran.status.success());
    let (method, path, _) = seen.last().unwrap();
    assert_eq!(
        (method, path.as_str()),
        (&Method::PATCH, "/repos/someone/server/issues/comments/501")
    );
}

#[test]
fn what_cannot_be_commented_is_a_warning() {
    for (refuse, text, says) in [
        (true, Some("text"), "cannot be read"),
        (false, None, "add markdown to report.formats"),
    ] {
        let (_, ran) = comment(vec![], refuse, text);
        let printed = String::from_utf8_lossy(&ran.stdout);
        assert!(
            ran.status.success() && printed.contains("::warning::") && printed.contains(says),
            "{printed}"
        );
        assert!(!printed.contains(TOKEN));
    }
}

#[test]
fn the_action_hands_everything_on_by_the_names_that_the_scripts_read() {
    let action: serde_yaml::Value = serde_yaml::from_str(&fs::read_to_string(script("action.yml")).unwrap()).unwrap();
    let steps = action["runs"]["steps"].as_sequence().unwrap();
    let env_of = |name: &str| -> Vec<String> {
        let step = steps.iter().find(|step| step["name"] == name).unwrap();
        let env = step["env"].as_mapping().unwrap();
        env.keys().map(|key| key.as_str().unwrap().to_owned()).collect()
    };
    // What a runner always sets.
    let given = [
        "GITHUB_OUTPUT",
        "GITHUB_STEP_SUMMARY",
        "GITHUB_API_URL",
        "GITHUB_REPOSITORY",
    ];
    for (step, name) in [("Evaluate", "evaluate"), ("Comment", "comment")] {
        let text = fs::read_to_string(script(name)).unwrap();
        let read: Vec<&str> = text
            .split('$')
            .map(|rest| rest.trim_start_matches('{'))
            .map(|rest| {
                &rest[..rest
                    .find(|c: char| !c.is_ascii_uppercase() && c != '_')
                    .unwrap_or(rest.len())]
            })
            .filter(|name| name.len() > 5 && *name != "PIPESTATUS" && !given.contains(name))
            .collect();
        assert!(!read.is_empty());
        for variable in read {
            assert!(env_of(step).iter().any(|name| name == variable), "{step}: {variable}");
        }
    }
}
