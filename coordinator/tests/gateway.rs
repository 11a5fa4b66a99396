//! Slow: whole runs through a gateway that is a process of its own. The model's key is there and nowhere else.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test may fail by panicking"
)]

mod support;

use std::collections::BTreeSet;
use std::fs;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use mcproctor::store::{AttemptFilter, Reader};
use rustix::process::Signal;
use serde_json::{Value, json};

use support::{Bed, Ran, Running, Verdict, unused_address};

/// The model is asked with this key only.
const KEY: &str = "sk-real-snt1nel-key-of-the-model";
const TOKEN_KEY: &str = "snt1nel-token-key-0123456789abcdef0123";
/// How every lease token begins.
const TOKEN: &str = "mpl1.";

/// A bed whose agents have neither key nor address, and the gateway that has both.
struct Gate {
    bed: Bed,
    gateway: Running,
    /// `127.0.0.1:PORT`.
    address: String,
}

impl Gate {
    fn new(agents: impl FnOnce(&mut Bed) -> Vec<Value>, change: impl FnOnce(&Bed, &mut Value)) -> Self {
        let scenarios = format!(
            "requireKey: {KEY}\nscenarios:\n  - when: Look\n    steps:\n      - call: {{tool: get_current_weather, arguments: \
             {{city: Vienna}}}}\n      - answer: 'The tool says: {{result}}'\n"
        );
        let mut bed = Bed::new(&scenarios);
        bed.case("look", "Look it up.", &["get_current_weather"]);
        let mut agents = agents(&mut bed);
        for agent in agents.iter_mut().filter_map(Value::as_object_mut) {
            agent.remove("apiKey");
            agent.remove("baseUrl");
        }
        bed.agents(&agents);
        let mut config = json!({
            "tokenKey": "${TOKEN_KEY}",
            "models": {
                "anthropic": { "api": "anthropic", "baseUrl": bed.model_url(), "apiKey": "${REAL_KEY}" },
                "openai": { "api": "openai", "baseUrl": format!("{}/v1", bed.model_url()), "apiKey": "${REAL_KEY}" },
            },
        });
        change(&bed, &mut config);
        fs::write(bed.path("gateway.yaml"), config.to_string()).unwrap();
        let gateway = started(&mut bed, "127.0.0.1:0");
        let said = gateway.stdout();
        let address = said.split("://").nth(1).unwrap().split(' ').next().unwrap().to_owned();
        // Workers are children of the run and have its environment: the file is not for them.
        fs::write(bed.path(".env"), format!("TOKENS={TOKEN_KEY}\n")).unwrap();
        bed.config["run"]["gateway"] = json!({ "url": format!("http://{address}"), "tokenKey": "${TOKENS}" });
        Self { bed, gateway, address }
    }

    /// What the gateway tells of what was used.
    fn usage(&self) -> Value {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        let request =
            format!("GET /usage HTTP/1.1\r\nhost: g\r\nauthorization: Bearer {TOKEN_KEY}\r\nconnection: close\r\n\r\n");
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        serde_json::from_str(answer.split_once("\r\n\r\n").unwrap().1).unwrap()
    }

    /// Tells the gateway to end.
    fn end(self) -> (Bed, Ran) {
        self.gateway.signal(Signal::TERM);
        (self.bed, self.gateway.wait())
    }
}

/// A gateway with keys that nothing else is given.
fn started(bed: &mut Bed, listen: &str) -> Running {
    let others = bed.env.clone();
    for (name, value) in [("REAL_KEY", KEY), ("TOKEN_KEY", TOKEN_KEY)] {
        bed.env.push((name.to_owned(), value.to_owned()));
    }
    let mut gateway = bed.start_program(&["gateway", "--listen", listen]);
    bed.env = others;
    gateway.wait_for("address", |said| said.contains(" for anthropic, openai"));
    gateway
}

fn both(bed: &mut Bed) -> Vec<Value> {
    vec![bed.claude(), bed.codex()]
}

fn builtin(bed: &mut Bed) -> Vec<Value> {
    vec![bed.builtin()]
}

/// Runs to the end, and keeps arguments and environments of the run and of everything that it starts.
fn watched(mut running: Running) -> (Ran, BTreeSet<Vec<u8>>) {
    let mut seen = BTreeSet::new();
    while !running.is_over() {
        let ids = running.descendants().into_iter().map(|process| process.id);
        for id in ids.chain([running.id()]) {
            for file in ["environ", "cmdline"] {
                seen.extend(fs::read(format!("/proc/{id}/{file}")));
            }
        }
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    (running.wait(), seen)
}

/// Every file of the bed, and the evidence in the store as it was before it was packed. Each with a name.
fn everything(bed: &Bed) -> Vec<(String, Vec<u8>)> {
    let mut all = Vec::new();
    let mut waiting: Vec<PathBuf> = vec![bed.path("")];
    let not_looked_at = |path: &Path| {
        [bed.path(".env"), bed.path("mcproctor")]
            .iter()
            .any(|other| other == path)
    };
    while let Some(path) = waiting.pop() {
        if path.is_symlink() || not_looked_at(&path) {
            continue;
        } else if path.is_dir() {
            waiting.extend(fs::read_dir(&path).unwrap().flatten().map(|entry| entry.path()));
        } else if let Ok(bytes) = fs::read(&path) {
            all.push((path.display().to_string(), bytes));
        }
    }
    let reader = Reader::open(&bed.reports()).unwrap();
    for head in reader.runs().unwrap() {
        let mut pieces = BTreeSet::new();
        reader
            .for_each_attempt(&head.id, AttemptFilter::ALL, &mut |attempt| {
                all.push((
                    format!("attempt {}", attempt.iteration),
                    serde_json::to_vec(&attempt).unwrap(),
                ));
                pieces.extend(
                    attempt
                        .evidence
                        .into_iter()
                        .map(|piece| (piece.kind.name(), piece.sha256)),
                );
                ControlFlow::Continue(())
            })
            .unwrap();
        for (kind, sha256) in pieces {
            all.push((format!("evidence {kind}"), reader.evidence(&sha256).unwrap().unwrap()));
        }
    }
    all
}

fn holds(bytes: &[u8], text: &str) -> bool {
    bytes.windows(text.len()).any(|part| part == text.as_bytes())
}

#[test]
fn slow_real_agents_pass_through_a_gateway_and_the_key_is_nowhere_else() {
    let mut gate = Gate::new(both, |_, _| {});
    gate.bed.config["run"]["timeoutSeconds"] = json!(120);
    let (ran, seen) = watched(gate.bed.start(&["-i", "2"]));
    assert_eq!(ran.code, Some(0));
    let results = gate.bed.results();
    assert_eq!(results.verdicts(), ["passed"; 4]);

    let usage = gate.usage();
    let attempts = usage["attempts"].as_array().unwrap();
    assert_eq!(attempts.len(), 4, "{usage:#}");
    for attempt in attempts {
        assert!(attempt["succeeded"].as_u64().unwrap() >= 2, "{attempt}");
        assert_eq!(
            attempt["requestsWithoutUsage"], 0,
            "both wait for the last word: {attempt}"
        );
    }
    let told: u64 = results
        .iterations()
        .iter()
        .map(|iteration| {
            let usage = &iteration["usage"];
            usage["inputTokens"].as_u64().unwrap() + usage["outputTokens"].as_u64().unwrap()
        })
        .sum();
    assert_eq!(usage["tokens"], told, "the relays and the gateway count the same");

    let (bed, ended) = gate.end();
    assert_eq!(ended.code, Some(0));
    let all = everything(&bed);
    // What is looked for would be found.
    let transcripts = all.iter().filter(|(name, _)| name == "evidence transcript");
    assert_eq!(
        transcripts.filter(|(_, bytes)| holds(bytes, "The tool says")).count(),
        4
    );
    assert!(seen.iter().any(|bytes| holds(bytes, "MCPROCTOR_ATTEMPT=")));
    for secret in [KEY, TOKEN_KEY, TOKEN] {
        for (name, bytes) in &all {
            assert!(!holds(bytes, secret), "{secret} in {name}");
        }
        assert!(
            !seen.iter().any(|bytes| holds(bytes, secret)),
            "{secret} in arguments or environment"
        );
        for text in [&ran.stdout, &ran.stderr, &ended.stdout, &ended.stderr] {
            assert!(!text.contains(secret), "{text}");
        }
    }
    bed.wait_until_nothing_runs();
}

#[test]
fn slow_no_agent_asks_again_once_the_gateways_budget_is_gone_and_the_run_ends_at_its_limit() {
    for kind in ["claude", "codex"] {
        let gate = Gate::new(
            |bed| both(bed).into_iter().filter(|agent| agent["kind"] == kind).collect(),
            |_, config| config["limits"] = json!({ "maxTokens": 1 }),
        );
        let ran = gate.bed.run(&["-i", "3", "--concurrency", "1"]);
        assert_eq!(ran.code, Some(4), "{kind}");
        assert!(ran.stderr.contains("limits.maxTokens is reached"), "{}", ran.stderr);
        let usage = gate.usage();
        let limited: u64 = usage["attempts"]
            .as_array()
            .unwrap()
            .iter()
            .map(|attempt| attempt["limitedRequests"].as_u64().unwrap())
            .sum();
        assert_eq!(limited, 1, "{kind} does not ask again: {usage:#}");
        let results = gate.bed.results();
        assert_eq!(results.total("failed"), 0, "{kind}");
        assert_eq!(results.total("notRun"), 2, "{kind}");
    }
}

#[test]
fn a_run_that_ended_at_the_gateways_limit_goes_on_once_it_is_raised() {
    let gate = Gate::new(builtin, |_, config| config["limits"] = json!({ "maxTokens": 1 }));
    assert_eq!(gate.bed.run(&["-i", "3"]).code, Some(4));
    let address = gate.address.clone();
    let (mut bed, ended) = gate.end();
    assert_eq!(ended.code, Some(0));
    let mut config: Value = serde_json::from_slice(&fs::read(bed.path("gateway.yaml")).unwrap()).unwrap();
    config["limits"]["maxTokens"] = json!(1_000_000);
    fs::write(bed.path("gateway.yaml"), config.to_string()).unwrap();
    let gateway = started(&mut bed, &address);
    assert_eq!(bed.run(&["-i", "3", "--resume"]).code, Some(0));
    assert_eq!(bed.results().verdicts(), ["passed"; 3]);
    drop(gateway);
}

#[test]
fn over_tls_the_gateway_is_known_by_its_authority() {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../worker/tests/proxy/fixtures");
    let mut gate = Gate::new(builtin, |_, config| {
        config["tls"] = json!({
            "certFile": fixtures.join("server.pem"),
            "keyFile": fixtures.join("server.key"),
        });
    });
    let port = gate.address.rsplit(':').next().unwrap().to_owned();
    gate.bed.config["run"]["gateway"]["url"] = json!(format!("https://localhost:{port}"));
    gate.bed.config["run"]["gateway"]["caFile"] = json!(fixtures.join("ca.pem"));
    assert_eq!(gate.bed.run(&[]).code, Some(0));
    assert_eq!(gate.bed.results().verdict(), "passed");

    gate.bed.config["run"]["gateway"]
        .as_object_mut()
        .unwrap()
        .remove("caFile");
    let ran = gate.bed.run(&[]);
    assert_eq!(ran.code, Some(3));
    let told = format!("the gateway at https://localhost:{port}/ cannot be reached");
    for words in [&told, "certificate", "name its authority in run.gateway.caFile"] {
        assert!(ran.stderr.contains(words), "{}", ran.stderr);
    }
}

/// What `check` says of this bed, and its exit code.
fn checked(bed: &Bed) -> (String, Option<i32>) {
    let ran = bed.start_program(&["check"]).wait();
    (ran.stdout, ran.code)
}

#[test]
fn check_and_run_ask_the_gateway_before_anything_costs_money() {
    let mut gate = Gate::new(builtin, |_, _| {});
    let url = format!("http://{}/", gate.address);
    let (said, code) = checked(&gate.bed);
    assert_eq!(code, Some(0), "{said}");
    let line = format!("gateway {url}: lets builtin in, to its model entry openai\n");
    assert!(said.contains(&line), "{said}");

    let agents = gate.bed.config["run"]["agents"].clone();
    for (entry, line) in [
        (
            "anthropic",
            format!(
                "the agent builtin speaks the API `openai`, and the model entry `anthropic` of the gateway at {url} speaks \
                 `anthropic`; name one that is there and speaks the agent's API in its `gatewayModel`"
            ),
        ),
        (
            "gone",
            "the gateway has no model entry `gone`, which builtin asks for; name one that is there".to_owned(),
        ),
    ] {
        gate.bed.config["run"]["agents"][0]["gatewayModel"] = json!(entry);
        let (said, code) = checked(&gate.bed);
        assert_eq!(code, Some(2), "{said}");
        assert!(said.contains(&format!("mismatch: {line}")), "{said}");
        let ran = gate.bed.run(&[]);
        assert_eq!(ran.code, Some(2), "{}", ran.stderr);
        assert!(ran.stderr.contains(&line), "{}", ran.stderr);
    }
    gate.bed.config["run"]["agents"] = agents;

    let closed = unused_address();
    gate.bed.config["run"]["gateway"]["url"] = json!(format!("http://{closed}"));
    let (said, code) = checked(&gate.bed);
    assert_eq!(code, Some(3), "{said}");
    let line = format!("stop: the gateway at http://{closed}/ cannot be reached: ");
    assert!(said.contains(&line), "{said}");
    assert!(
        said.contains("; start it (`mcproctor gateway`), or correct run.gateway.url\n"),
        "{said}"
    );
    assert_eq!(said.matches("cannot be reached").count(), 1, "{said}");

    assert_eq!(gate.bed.asked().len(), 0, "no model was asked");
    gate.bed.config["run"]["gateway"]["url"] = json!(gate.bed.model_url());
    let (said, code) = checked(&gate.bed);
    assert_eq!(code, Some(3), "{said}");
    assert!(said.contains(" is no gateway: it answered HTTP "), "{said}");
}

#[test]
fn check_says_that_a_gateways_budget_is_gone() {
    let gate = Gate::new(builtin, |_, config| config["limits"] = json!({ "maxTokens": 1 }));
    assert_eq!(checked(&gate.bed).1, Some(0));
    assert_eq!(gate.bed.run(&["-i", "2"]).code, Some(4));
    let (said, code) = checked(&gate.bed);
    assert_eq!(code, Some(4), "{said}");
    assert!(
        said.contains("asks no model any more: limits.maxTokens is reached: "),
        "{said}"
    );
}

#[test]
fn an_agent_that_finds_the_keys_of_gateway_and_judge_leaves_them_nowhere() {
    const JUDGE_KEY: &str = "snt1nel/judge-\"key\"";
    let mut gate = Gate::new(builtin, |_, _| {});
    let judge = gate.bed.judge(|_| Verdict::of("pass", "It did."));
    gate.bed.config["judge"]["apiKey"] = json!("${JUDGE}");
    let env = gate.bed.path(".env");
    fs::write(&env, format!("TOKENS={TOKEN_KEY}\nJUDGE='{JUDGE_KEY}'\n")).unwrap();
    // In its answer, as lines and inside of JSON, and beside it.
    let script = format!("cat {0}; cat {0} >&2; \"$@\"", env.display());
    let mut agent = gate.bed.around_builtin(&script);
    agent["answer"] = json!("text");
    for key in ["apiKey", "baseUrl"] {
        agent.as_object_mut().unwrap().remove(key);
    }
    gate.bed.agents(&[agent]);
    let ran = gate.bed.run(&["-i", "2"]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert_eq!(judge.asked().len(), 2);
    let (bed, _ended) = gate.end();
    let all = everything(&bed);
    let answers = all.iter().filter(|(name, _)| name.starts_with("attempt "));
    assert_eq!(
        answers.filter(|(_, bytes)| holds(bytes, "TOKENS=[redacted]")).count(),
        2
    );
    for secret in [TOKEN_KEY, "snt1nel/judge", "judge-\\\"key"] {
        for (name, bytes) in &all {
            assert!(!holds(bytes, secret), "{secret} in {name}");
        }
        let asked = judge.asked();
        assert!(
            !asked.iter().any(|asked| asked.body.to_string().contains(secret)),
            "the judge was told {secret}"
        );
    }
}

#[test]
fn a_gateway_with_another_key_stops_the_run_with_what_to_check() {
    let gate = Gate::new(builtin, |_, _| {});
    fs::write(gate.bed.path(".env"), format!("TOKENS=another-{TOKEN_KEY}\n")).unwrap();
    let (said, code) = checked(&gate.bed);
    assert_eq!(code, Some(3), "{said}");
    assert!(said.contains("was not signed with this gateway's key"), "{said}");
    let ran = gate.bed.run(&["-i", "5"]);
    assert_eq!(ran.code, Some(3));
    assert!(
        ran.stderr
            .contains("takes no token of this run: the lease token was not signed with this gateway's key")
            && ran
                .stderr
                .contains("give run.gateway.tokenKey and the gateway's tokenKey the same value"),
        "{}",
        ran.stderr
    );
    assert_eq!(gate.bed.asked().len(), 0, "nothing reached the model");
}

#[test]
fn a_gateway_that_other_machines_could_listen_in_on_does_not_start() {
    let bed = Bed::new("scenarios: []");
    let config = json!({ "tokenKey": TOKEN_KEY, "models": { "a": { "api": "anthropic", "apiKey": KEY } } });
    fs::write(bed.path("gateway.yaml"), config.to_string()).unwrap();
    let ran = bed.start_program(&["gateway", "--listen", "0.0.0.0:0"]).wait();
    assert_eq!(ran.code, Some(2));
    assert!(ran.stderr.contains("there is no `tls`"), "{}", ran.stderr);
    let ran = bed.start_program(&["gateway", "-c", "gone.yaml"]).wait();
    assert_eq!(ran.code, Some(2));
    assert!(!ran.stderr.contains("eval.yaml"), "{}", ran.stderr);
}
