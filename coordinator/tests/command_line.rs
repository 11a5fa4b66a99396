//! The command line as people use it.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test may fail by panicking"
)]

mod support;

use std::collections::BTreeSet;

use serde_json::{Value, json};

use support::Bed;

const STDIO_SERVER: &str = r#"
import json, os, sys
for line in sys.stdin:
    message = json.loads(line)
    if "id" not in message:
        continue
    method = message["method"]
    if method == "initialize":
        result = {"protocolVersion": message["params"]["protocolVersion"], "capabilities": {"tools": {}},
                  "serverInfo": {"name": "stdio", "version": "1"}}
    elif method == "tools/list":
        result = {"tools": [{"name": "whoami", "inputSchema": {"type": "object"}}]}
    else:
        text = "%s in %s" % (os.environ.get("WHO"), os.getcwd())
        result = {"content": [{"type": "text", "text": text}]}
    print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}), flush=True)
"#;

fn bed() -> Bed {
    let bed = Bed::new(
        "
scenarios:
  - when: weather
    steps:
      - call: {tool: get_current_weather, arguments: {city: Vienna}}
      - answer: Sunny.
  - when: cities
    steps:
      - call: list_cities
      - answer: Some.
",
    );
    bed.case("current weather", "The weather?", &["get_current_weather"]);
    bed.case("all cities", "The cities?", &["list_cities"]);
    bed
}

fn texts(values: impl IntoIterator<Item = Value>) -> Vec<String> {
    values
        .into_iter()
        .map(|value| value.as_str().unwrap().to_owned())
        .collect()
}

#[test]
fn help_is_a_success_and_names_the_commands() {
    let bed = bed();
    let ran = bed.start_program(&["--help"]).wait();
    assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""));
    for word in ["run", "demo", "list", "--config", "./eval.yaml"] {
        assert!(ran.stdout.contains(word), "{word}");
    }
    assert!(
        !ran.stdout.contains("minimal-agent"),
        "what people do not start is not shown"
    );
    let ran = bed.start_program(&["--version"]).wait();
    assert_eq!(ran.stdout, concat!("mcproctor ", env!("CARGO_PKG_VERSION"), "\n"));
}

#[test]
fn flags_that_are_not_known_or_make_no_sense_are_usage_errors() {
    let bed = bed();
    for args in [
        &["--no-such-flag"][..],
        &["no-such-command"],
        &["run", "--iterations", "many"],
        &["run", "--workers", "0"],
        &["run", "--output", "colourful"],
        &["run", "-i", "0"],
        &["run", "-i", "100001"],
        &["run", "--agent", "nobody"],
        &["run", "--filter", "no such case"],
        &["run", "-c", "no-such-file.yaml"],
    ] {
        let ran = bed.start_program(args).wait();
        assert_eq!(ran.code, Some(2), "{args:?}");
        assert!(
            !ran.stderr.is_empty() && ran.stdout.is_empty(),
            "{args:?}: {}",
            ran.stdout
        );
    }
    assert!(!bed.reports().exists(), "nothing was run");
    assert!(bed.asked().is_empty());
}

#[test]
fn without_a_command_it_runs_the_config_of_this_folder() {
    let bed = bed();
    let ran = bed.start_program(&["-i", "2", "--output", "plain"]).wait();
    assert_eq!(ran.code, Some(0));
    assert_eq!(bed.results().verdicts(), ["passed"; 4]);
    let announced = "4 conversations: 2 test cases × 2 iterations × 1 agent; a test case that always passes will show 34–100% with N=2";
    assert_eq!(ran.stdout.matches(announced).count(), 1, "{}", ran.stdout);
    for file in ["report.html", "results.json"] {
        assert!(bed.reports().join("latest").join(file).is_file(), "{file}");
    }
}

#[test]
fn runs_are_listed_the_newest_first() {
    let bed = bed();
    let none = bed.start_program(&["list"]).wait();
    assert_eq!(none.code, Some(0));
    assert!(
        none.stdout.starts_with("no runs in ") && none.stdout.ends_with("reports\n"),
        "{}",
        none.stdout
    );
    let ids: Vec<String> = (0..2)
        .map(|_| {
            assert_eq!(bed.run(&["-i", "1", "--filter", "cities"]).code, Some(0));
            bed.results()["run"]["id"].as_str().unwrap().to_owned()
        })
        .collect();
    let listed = bed.start_program(&["list", "--output", "json"]).wait();
    let listed: Vec<Value> = serde_json::from_str(&listed.stdout).unwrap();
    assert_eq!(
        texts(listed.iter().map(|run| run["id"].clone())),
        [ids[1].clone(), ids[0].clone()]
    );
    let table = bed.start_program(&["list"]).wait().stdout;
    assert!(ids.iter().all(|id| table.contains(id)), "{table}");
}

#[test]
fn filters_and_agents_pick_what_is_run() {
    let mut bed = bed();
    let mut other = bed.builtin();
    other["name"] = json!("other");
    let builtin = bed.builtin();
    bed.agents(&[builtin, other]);
    assert_eq!(bed.run(&["--agent", "other", "--filter", "cities"]).code, Some(0));
    let results = bed.results();
    assert_eq!(
        (&results.only()["agent"], &results.only()["testCase"]),
        (&json!("other"), &json!("all cities"))
    );
    assert_eq!(
        bed.run(&["--filter", "current weather.yaml", "--filter", "cities"])
            .code,
        Some(0)
    );
    assert_eq!(bed.results().iterations().len(), 4);
}

#[test]
fn several_workers_share_the_iterations() {
    let mut bed = bed();
    bed.config["run"]["concurrency"] = json!(4);
    let mut running = bed.start(&["--workers", "2", "-i", "8", "--output", "json"]);
    running.wait_for("worker", |out| out.contains("\"attempt_finished\""));
    assert_eq!(running.workers().len(), 2);
    assert_eq!(running.wait().code, Some(0));
    let results = bed.results();
    assert_eq!(results.verdicts(), ["passed"; 16]);
    let workers: BTreeSet<String> = texts(results.iterations().iter().map(|it| it["worker"].clone()))
        .into_iter()
        .collect();
    assert_eq!(workers.into_iter().collect::<Vec<_>>(), ["worker-1", "worker-2"]);
    bed.wait_until_nothing_runs();
}

#[test]
fn json_output_is_one_event_a_line_in_order() {
    let bed = bed();
    let ran = bed.run(&["--output", "json", "-i", "2"]);
    assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""));
    let events = ran.events();
    let kinds = texts(events.iter().map(|event| event["event"].clone()));
    assert!(events.iter().all(|event| event["at"].is_i64()));
    let place = |kind: &str| {
        kinds
            .iter()
            .position(|other| other == kind)
            .unwrap_or_else(|| panic!("no {kind}: {kinds:?}"))
    };
    let order = [
        "run_started",
        "attempt_started",
        "turn_started",
        "call_started",
        "call_ended",
        "attempt_finished",
    ];
    assert!(
        order.windows(2).all(|pair| place(pair[0]) < place(pair[1])),
        "{kinds:?}"
    );
    assert_eq!(kinds.iter().filter(|kind| *kind == "attempt_finished").count(), 4);
    assert_eq!(kinds.last().unwrap(), "run_finished");
}

#[test]
fn a_server_over_stdio_is_started_for_each_iteration_with_its_environment_and_folder() {
    let mut bed = Bed::new("scenarios: [{when: Who, steps: [{call: whoami}, {answer: 'You are {result}'}]}]");
    bed.case("who", "Who am I?", &["whoami"]);
    std::fs::write(bed.path("server.py"), STDIO_SERVER).unwrap();
    std::fs::create_dir(bed.path("place")).unwrap();
    bed.config["mcp"] = json!({
        "name": "who",
        "command": "python3",
        "args": [bed.path("server.py")],
        "env": { "WHO": "sam" },
        "cwd": "./place",
    });
    assert_eq!(bed.run(&["-i", "2"]).code, Some(0));
    let results = bed.results();
    assert_eq!(results.verdicts(), ["passed"; 2]);
    let said = results.iterations()[0]["turns"][0]["reply"].as_str().unwrap();
    let place = bed.path("place").canonicalize().unwrap();
    assert_eq!(said, format!("You are sam in {}", place.display()));
    bed.wait_until_nothing_runs();
}

#[test]
fn the_demo_needs_nothing_installed() {
    let bed = bed();
    let ran = bed
        .start_program(&["demo", "-i", "2", "--output", "plain", "--out-dir", "demo-reports"])
        .wait();
    assert_eq!(ran.code, Some(0));
    assert!(bed.path("demo-reports/latest/report.html").is_file());
    bed.wait_until_nothing_runs();
}

#[test]
fn dotenv_files_fill_in_variables_and_an_unset_one_is_named() {
    let mut bed = bed();
    bed.config["mcp"]["headers"] = json!([{ "name": "X-Key", "value": "${SERVER_KEY}" }]);
    let ran = bed.run(&[]);
    assert_eq!(ran.code, Some(2));
    assert!(ran.stderr.contains("SERVER_KEY"), "{}", ran.stderr);
    std::fs::write(bed.path(".env"), "SERVER_KEY=from-a-file\n").unwrap();
    assert_eq!(bed.run(&[]).code, Some(0));
}

#[test]
fn only_the_forms_of_report_that_are_asked_for_are_written() {
    let mut bed = bed();
    bed.config["report"]["formats"] = json!(["json"]);
    let ran = bed.run(&["-i", "1"]);
    assert_eq!(ran.code, Some(0), "{}{}", ran.stdout, ran.stderr);
    let folder = bed.reports().join("latest");
    assert!(folder.join("results.json").is_file() && !folder.join("report.html").exists());
    assert!(
        ran.stdout.contains("results.json") && !ran.stdout.contains("report.html"),
        "{}",
        ran.stdout
    );
}
