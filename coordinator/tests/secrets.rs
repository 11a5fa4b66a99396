//! Planted secrets show up nowhere but where they are sent to, whatever the server and the agent do with them.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test may fail by panicking"
)]

mod support;

use std::collections::BTreeSet;
use std::fs;
use std::io::Read;
use std::ops::ControlFlow;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use flate2::read::GzDecoder;
use mcproctor::store::{AttemptFilter, Reader};
use serde_json::{Value, json};

use support::{Answer, Asked, Bed, Ran, Running};

/// What every sentinel begins with; nothing else on earth does.
const SENTINEL: &str = "snt1nel";

/// A model that repeats what the tool said, and is asked with the right key only.
fn scenarios(key: &str) -> String {
    format!(
        "
requireKey: {key}
scenarios:
  - when: Look
    steps:
      - call: {{tool: look_up, arguments: {{what: \"{SENTINEL}-agent-env\"}}}}
      - answer: 'The tool says: {{result}}'
"
    )
}

/// A server that tells everything it was sent, in text and in structure, with and without the scheme.
fn talkative(asked: &Asked) -> Answer {
    let header = |name: &str| {
        let value = asked.headers.get(name).map(|value| value.as_bytes().to_vec());
        String::from_utf8(value.unwrap_or_default()).unwrap()
    };
    let all = [
        header("authorization"),
        header("x-quoted"),
        header("x-dot"),
        asked.query.clone(),
    ];
    let complete = all.iter().all(|value| value.contains(SENTINEL));
    match asked.method.as_str() {
        _ if !complete => Answer::Status(500),
        "tools/call" => Answer::Result(json!({
            "content": [
                { "type": "text", "text": all.join(" | ") },
                { "type": "text", "text": json!({ "nested": all }).to_string() },
            ],
            "structuredContent": { "token": all[0].trim_start_matches("Bearer "), "all": all },
        })),
        _ => Answer::Usual,
    }
}

/// A bed with secrets in every place that takes one.
fn bed() -> Bed {
    let key = format!("{SENTINEL}-api-key");
    let mut bed = Bed::new(&scenarios(&key));
    bed.case("look", "Look it up.", &["look_up"]);
    bed.serve(talkative);
    let url = bed.config["mcp"]["url"].as_str().unwrap().to_owned();
    bed.config["mcp"]["url"] = json!(format!("{url}?key={SENTINEL}-query%2F1&mode=test"));
    bed.config["mcp"]["headers"] = json!([
        { "name": "Authorization", "value": format!("Bearer {SENTINEL}-bearer") },
        { "name": "X-Quoted", "value": format!("{SENTINEL}-\"quoted\\value\"") },
        { "name": "X-Dot", "value": "${FROM_A_FILE}" },
    ]);
    fs::write(
        bed.path(".env"),
        format!("FROM_A_FILE={SENTINEL}-dotenv\nNOT_USED={SENTINEL}-unused\n"),
    )
    .unwrap();
    bed
}

fn with_secrets(mut agent: Value) -> Value {
    agent["apiKey"] = json!(format!("{SENTINEL}-api-key"));
    agent["env"]["AGENT_SETTING"] = json!(format!("{SENTINEL}-agent-env"));
    agent
}

/// Runs to the end and looks at the arguments of every process meanwhile.
fn watched(mut running: Running) -> (Ran, BTreeSet<String>) {
    let mut seen = BTreeSet::new();
    while !running.is_over() {
        for process in running.descendants() {
            seen.extend(process.args);
        }
        std::thread::sleep(std::time::Duration::from_millis(2));
    }
    (running.wait(), seen)
}

/// Everything that is left of the run, in the clear: what it printed, every file, the store's rows and evidence, and the
/// packed pieces of the page. Each with a name.
fn everything(bed: &Bed, ran: &Ran) -> Vec<(String, Vec<u8>)> {
    let mut all = vec![
        ("standard output".to_owned(), ran.stdout.clone().into_bytes()),
        ("standard error".to_owned(), ran.stderr.clone().into_bytes()),
    ];
    let mut waiting: Vec<PathBuf> = vec![bed.reports(), bed.path("cache"), bed.path("home")];
    while let Some(path) = waiting.pop() {
        if path.is_dir() {
            waiting.extend(fs::read_dir(&path).unwrap().flatten().map(|entry| entry.path()));
        } else if let Ok(bytes) = fs::read(&path) {
            if path.extension().is_some_and(|ext| ext == "html") {
                all.extend(packed(&path, &bytes));
            }
            all.push((path.display().to_string(), bytes));
        }
    }
    let reader = Reader::open(&bed.reports()).unwrap();
    for head in reader.runs().unwrap() {
        let (run, _) = reader.run(&head.id).unwrap().unwrap();
        all.push((format!("the run {}", head.id), serde_json::to_vec(&run).unwrap()));
        let mut pieces = BTreeSet::new();
        reader
            .for_each_attempt(&head.id, AttemptFilter::ALL, &mut |attempt| {
                let record = serde_json::to_vec(&attempt).unwrap();
                all.push((format!("attempt {} of {}", attempt.attempt, attempt.iteration), record));
                for piece in attempt.evidence {
                    pieces.insert((piece.kind.name(), piece.sha256));
                }
                ControlFlow::Continue(())
            })
            .unwrap();
        for (kind, sha256) in pieces {
            let piece = reader.evidence(&sha256).unwrap().unwrap();
            all.push((format!("evidence {kind}"), piece));
        }
    }
    all
}

/// The packed pieces of a page.
fn packed(path: &Path, page: &[u8]) -> Vec<(String, Vec<u8>)> {
    let page = String::from_utf8(page.to_vec()).unwrap();
    let pieces = page.split("<script type=\"application/x-mcproctor-").skip(1);
    let unpacked: Vec<_> = pieces
        .map(|piece| {
            let base64 = piece.split_once('>').unwrap().1.split_once('<').unwrap().0;
            let mut bytes = Vec::new();
            let gzip = STANDARD.decode(base64).unwrap();
            GzDecoder::new(&gzip[..]).read_to_end(&mut bytes).unwrap();
            (format!("a piece of {}", path.display()), bytes)
        })
        .collect();
    assert!(!unpacked.is_empty(), "no pieces in {}", path.display());
    unpacked
}

/// The places of a sentinel, with what stands around it.
fn found(all: &[(String, Vec<u8>)]) -> Vec<String> {
    let mut found = Vec::new();
    for (name, bytes) in all {
        for (at, part) in bytes.windows(SENTINEL.len()).enumerate() {
            if part == SENTINEL.as_bytes() {
                let around = &bytes[at.saturating_sub(60)..(at + 60).min(bytes.len())];
                found.push(format!("{name}: …{}…", String::from_utf8_lossy(around)));
            }
        }
    }
    found
}

fn text_of(all: &[(String, Vec<u8>)], name: &str) -> String {
    let pieces = all.iter().filter(|(other, _)| other == name);
    pieces
        .map(|(_, bytes)| String::from_utf8_lossy(bytes).into_owned())
        .collect()
}

/// Runs it, finds no sentinel anywhere, and gives everything back.
fn is_clean(bed: &Bed, extra: &[&str]) -> Vec<(String, Vec<u8>)> {
    let (ran, arguments) = watched(bed.start(extra));
    assert_eq!(ran.code, Some(0));
    assert!(
        bed.results().verdicts().iter().all(|verdict| verdict == "passed"),
        "{:?}",
        bed.results().verdicts()
    );
    let arguments: Vec<_> = arguments.iter().filter(|arg| arg.contains(SENTINEL)).collect();
    assert!(arguments.is_empty(), "in the arguments of a process: {arguments:?}");
    let all = everything(bed, &ran);
    let leaks = found(&all);
    assert!(leaks.is_empty(), "{} leaks:\n{}", leaks.len(), leaks.join("\n"));
    // What stands in their place shows that they were there to be found.
    for evidence in ["evidence transcript", "evidence calls"] {
        assert!(text_of(&all, evidence).contains("[redacted]"), "{evidence}");
    }
    all
}

#[test]
fn a_command_that_prints_its_environment_and_what_tools_told_it_leaks_nothing() {
    let mut bed = bed();
    let agent = with_secrets(bed.around_builtin("env >&2; echo \"asked with $AGENT_SETTING\" >&2; \"$@\""));
    bed.agents(&[agent]);
    let all = is_clean(&bed, &["-i", "2"]);
    let stderr = text_of(&all, "evidence stderr");
    assert!(stderr.contains("asked with [redacted]"), "{stderr}");
    let results = bed.results();
    let first = &results.iterations()[0];
    assert_eq!(first["calls"][0]["arguments"], json!({ "what": "[redacted]" }));
    let reply = first["turns"][0]["reply"].as_str().unwrap();
    assert!(
        reply.starts_with("The tool says: [redacted] | [redacted] | [redacted] | "),
        "{reply}"
    );
}

#[test]
fn an_agent_that_fails_with_secrets_on_its_lips_leaks_nothing() {
    let mut bed = bed();
    let agent = with_secrets(bed.around_builtin("\"$@\"; echo \"broken: $AGENT_SETTING\" >&2; exit 4"));
    bed.agents(&[agent]);
    let (ran, _) = watched(bed.start(&["--output", "json"]));
    assert_eq!(ran.code, Some(0));
    assert_eq!(bed.results().verdict(), "failed/agent_error");
    assert_eq!(bed.results().reason(), "exit code 4: broken: [redacted]");
    let leaks = found(&everything(&bed, &ran));
    assert!(leaks.is_empty(), "{}", leaks.join("\n"));
}

#[test]
fn the_environment_of_a_stdio_server_is_told_by_nobody() {
    const SERVER: &str = r#"
import json, os, sys
secret = os.environ["SERVER_TOKEN"]
print("starting with", secret, file=sys.stderr, flush=True)
for line in sys.stdin:
    message = json.loads(line)
    if "id" not in message:
        continue
    method = message["method"]
    if method == "initialize":
        result = {"protocolVersion": message["params"]["protocolVersion"], "capabilities": {"tools": {}},
                  "serverInfo": {"name": "stdio", "version": secret}}
    elif method == "tools/list":
        result = {"tools": [{"name": "look_up", "description": "Knows " + secret, "inputSchema": {"type": "object"}}]}
    else:
        result = {"content": [{"type": "text", "text": secret}]}
    print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}), flush=True)
"#;
    let mut bed = bed();
    fs::write(bed.path("server.py"), SERVER).unwrap();
    bed.config["mcp"] = json!({
        "command": "python3",
        "args": [bed.path("server.py")],
        "env": { "SERVER_TOKEN": format!("{SENTINEL}-ünïcode \"quoted\"") },
    });
    let agent = with_secrets(bed.builtin());
    bed.agents(&[agent]);
    let all = is_clean(&bed, &[]);
    assert!(text_of(&all, "evidence tool_list").contains("Knows [redacted]"));
    assert_eq!(bed.results().only()["turns"][0]["reply"], "The tool says: [redacted]");
}

#[test]
fn a_wrong_key_is_named_without_being_told() {
    let mut bed = bed();
    let mut agent = with_secrets(bed.builtin());
    agent["apiKey"] = json!(format!("{SENTINEL}-another-key"));
    bed.agents(&[agent]);
    let (ran, _) = watched(bed.start(&[]));
    assert_eq!(ran.code, Some(3));
    assert!(ran.stderr.contains("check the agent's key"), "{}", ran.stderr);
    let leaks = found(&everything(&bed, &ran));
    assert!(leaks.is_empty(), "{}", leaks.join("\n"));
}

#[test]
fn mistakes_beside_secrets_are_told_without_them() {
    let mut bed = bed();
    let agent = with_secrets(bed.builtin());
    bed.agents(&[agent]);
    bed.config["run"]["iterations"] = json!(0);
    bed.config["mcp"]["url"] = json!(format!(
        "http://user:{SENTINEL}-password@127.0.0.1:1/mcp?key={SENTINEL}"
    ));
    bed.config["mcp"]["headers"] = json!([{ "name": "X-Key", "value": format!("{SENTINEL}\nX-Other: y") }]);
    let ran = bed.run(&[]);
    assert_eq!(ran.code, Some(2));
    assert!(
        !ran.stderr.contains(SENTINEL) && !ran.stdout.contains(SENTINEL),
        "{}",
        ran.stderr
    );
}

#[test]
fn only_the_debug_log_has_header_values_and_only_its_owner_can_read_it() {
    let mut bed = bed();
    let agent = with_secrets(bed.builtin());
    bed.agents(&[agent]);
    let (ran, arguments) = watched(bed.start(&["--debug"]));
    assert_eq!(ran.code, Some(0));
    assert!(!arguments.iter().any(|arg| arg.contains(SENTINEL)));
    let log = bed.reports().join("mcproctor-debug.log");
    let mut all = everything(&bed, &ran);
    let named = log.display().to_string();
    let position = all.iter().position(|(name, _)| *name == named).unwrap();
    let (_, debug) = all.remove(position);
    assert!(
        String::from_utf8(debug)
            .unwrap()
            .contains(&format!("Bearer {SENTINEL}-bearer"))
    );
    assert_eq!(fs::metadata(&log).unwrap().permissions().mode() & 0o777, 0o600);
    let leaks = found(&all);
    assert!(leaks.is_empty(), "{}", leaks.join("\n"));
}

#[test]
fn slow_real_agents_leak_nothing() {
    let mut bed = bed();
    let agents = [with_secrets(bed.claude()), with_secrets(bed.codex())];
    bed.agents(&agents);
    bed.config["run"]["timeoutSeconds"] = json!(120);
    let all = is_clean(&bed, &[]);
    assert!(text_of(&all, "evidence transcript").contains("The tool says: "));
}
