//! `mcproctor check`: what is ready, what does not fit, what providers refuse. No agent is started.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test may fail by panicking"
)]

mod support;

use serde_json::json;

use support::{Answer, Bed, unused_address};

fn bed() -> Bed {
    Bed::new("scenarios: []\n")
}

#[test]
fn all_is_ready_and_nothing_was_run() {
    let bed = bed();
    bed.case("current weather", "The weather?", &["get_current_weather"]);
    let ran = bed.start_program(&["check"]).wait();
    assert_eq!(ran.code, Some(0), "{}{}", ran.stdout, ran.stderr);
    assert!(ran.stdout.contains("weather-server"), "{}", ran.stdout);
    assert!(
        ran.stdout
            .contains("3 tools: get_current_weather, get_forecast, list_cities"),
        "{}",
        ran.stdout
    );
    assert!(
        ran.stdout.ends_with("ready\n") && !ran.stdout.contains("not ready"),
        "{}",
        ran.stdout
    );
    assert!(bed.asked().is_empty(), "no model was asked");
    assert!(!bed.reports().join("mcproctor.db").exists(), "nothing was stored");
}

#[test]
fn a_tool_that_the_server_does_not_offer_is_a_mismatch_with_a_suggestion() {
    let bed = bed();
    bed.case("current weather", "The weather?", &["get_current_wether"]);
    let ran = bed.start_program(&["check"]).wait();
    assert_eq!(ran.code, Some(2), "{}{}", ran.stdout, ran.stderr);
    assert!(
        ran.stdout.contains(
            "expects `get_current_wether`, which the server does not offer; did you mean `get_current_weather`?"
        ),
        "{}",
        ran.stdout
    );
}

#[test]
fn definitions_that_providers_refuse_are_named_with_their_source() {
    let mut bed = bed();
    bed.case("x", "Look it up.", &["look_up"]);
    bed.serve(|asked| match asked.method.as_str() {
        "tools/list" => Answer::Result(json!({"tools": [
            {"name": "look_up", "inputSchema": {"type": "object", "oneOf": [{"required": ["a"]}, {"required": ["b"]}]}},
            {"name": "x".repeat(200), "inputSchema": {"type": "object"}},
        ]})),
        _ => Answer::Usual,
    });
    let ran = bed.start_program(&["check"]).wait();
    let findings: Vec<&str> = ran
        .stdout
        .lines()
        .filter(|line| line.starts_with("refused:") || line.starts_with("warning:"))
        .collect();
    assert!(
        findings
            .iter()
            .any(|line| line.contains("oneOf") && line.contains("https://")),
        "{}",
        ran.stdout
    );
    assert!(
        findings
            .iter()
            .any(|line| line.contains("xxxx") && line.contains("https://")),
        "{}",
        ran.stdout
    );
    assert_eq!(ran.code, Some(0), "they are warnings: {}", ran.stdout);
}

#[test]
fn a_server_that_is_not_there_or_wants_a_login_is_a_stop() {
    let mut bed = bed();
    bed.case("x", "Look it up.", &["look_up"]);
    bed.config["mcp"] = json!({"url": format!("http://{}/mcp", unused_address())});
    let ran = bed.start_program(&["check"]).wait();
    assert_eq!(ran.code, Some(3), "{}{}", ran.stdout, ran.stderr);
    assert!(ran.stdout.contains("cannot be reached"), "{}", ran.stdout);

    bed.serve(|_| Answer::Status(401));
    let ran = bed.start_program(&["check"]).wait();
    assert_eq!(ran.code, Some(3), "{}{}", ran.stdout, ran.stderr);
    assert!(
        ran.stdout.contains("needs a login") && ran.stdout.contains("mcp.headers"),
        "{}",
        ran.stdout
    );
}

#[test]
fn the_runs_of_a_config_are_listed() {
    let bed = bed();
    let ran = bed.start_program(&["list", "-c", "eval.yaml"]).wait();
    assert_eq!(ran.code, Some(0), "{}{}", ran.stdout, ran.stderr);
    assert!(ran.stdout.starts_with("no runs in "), "{}", ran.stdout);
}

#[test]
fn a_stdio_server_that_ends_at_once_is_named_with_its_last_words() {
    let mut bed = bed();
    bed.case("x", "Look it up.", &["look_up"]);
    bed.config["mcp"] = json!({"command": "sh", "args": ["-c", "echo 'cannot open the database' >&2; exit 7"]});
    for command in ["check", "run"] {
        let ran = bed.start_program(&[command]).wait();
        assert_eq!(ran.code, Some(3), "{}{}", ran.stdout, ran.stderr);
        let said = format!("{}{}", ran.stdout, ran.stderr);
        assert!(
            said.contains("server exited with status 7: cannot open the database"),
            "{command}: {said}"
        );
        assert!(!said.contains("panicked"), "{command}: {said}");
    }
}

#[test]
fn answers_for_an_agent_that_cannot_go_on_are_a_mismatch_before_anything_costs_money() {
    let mut bed = bed();
    bed.case_with_answers("x", "The weather?", &["get_current_weather"], &["In Vienna."]);
    bed.config["run"]["agents"] = json!([{"kind": "command", "name": "mine", "command": "true"}]);
    let checked = bed.start_program(&["check"]).wait();
    assert_eq!(checked.code, Some(2), "{}{}", checked.stdout, checked.stderr);
    let ran = bed.run(&[]);
    assert_eq!(ran.code, Some(2), "{}{}", ran.stdout, ran.stderr);
    assert!(ran.stderr.contains("has no `resumeArgs`"), "{}", ran.stderr);
}

#[test]
fn a_level_that_an_agent_asks_for_and_that_is_not_there_is_a_stop_and_others_are_not() {
    let mut bed = bed();
    bed.case("x", "The weather?", &["get_current_weather"]);
    bed.env.push(("PATH".to_owned(), bed.path("").display().to_string()));
    let ran = bed.start_program(&["check"]).wait();
    assert_eq!(ran.code, Some(0), "{}{}", ran.stdout, ran.stderr);
    assert!(
        ran.stdout.contains("sandbox bubblewrap: not here: the program `bwrap`"),
        "{}",
        ran.stdout
    );

    for (level, why) in [
        (
            "bubblewrap",
            "the program `bwrap` is not installed; install it (`apt-get install bubblewrap`)",
        ),
        ("container", "neither `docker` nor `podman` is installed; install one"),
    ] {
        bed.config["run"]["sandbox"] = json!(level);
        let ran = bed.start_program(&["check"]).wait();
        assert_eq!(ran.code, Some(3), "{}{}", ran.stdout, ran.stderr);
        let stop = format!("stop: agent builtin: the sandbox {level} cannot be set up on this machine: {why}");
        assert!(ran.stdout.contains(&stop), "{}", ran.stdout);
        assert!(ran.stdout.ends_with("not ready\n"), "{}", ran.stdout);
    }
}

#[test]
fn an_image_that_is_not_there_is_a_stop() {
    let mut bed = bed();
    bed.case("x", "The weather?", &["get_current_weather"]);
    // An engine that has no image at all.
    let engine =
        "#!/bin/sh\ncase $1 in info) echo '20.10.24 []' ;; *) echo 'Error: No such image: '$6 >&2; exit 1 ;; esac\n";
    let program = bed.path("docker");
    std::fs::write(&program, engine).unwrap();
    std::fs::set_permissions(&program, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    bed.env
        .push(("PATH".to_owned(), format!("{}:/usr/bin:/bin", bed.path("").display())));
    bed.config["run"]["sandbox"] = json!({"level": "container", "image": "registry.example/gone:1"});
    let ran = bed.start_program(&["check"]).wait();
    assert_eq!(ran.code, Some(3), "{}{}", ran.stdout, ran.stderr);
    let stop = "stop: agent builtin: the sandbox container cannot be set up on this machine: there is no image \
                `registry.example/gone:1`; download it (`docker pull registry.example/gone:1`), or name another one in \
                `run.sandbox.image`";
    assert!(ran.stdout.contains(stop), "{}", ran.stdout);
}

#[test]
fn a_bwrap_that_fails_without_a_word_is_told_by_how_it_ended() {
    let mut bed = bed();
    bed.case("x", "The weather?", &["get_current_weather"]);
    let program = bed.path("bwrap");
    std::fs::write(&program, "#!/bin/sh\nexit 3\n").unwrap();
    std::fs::set_permissions(&program, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    bed.env.push(("PATH".to_owned(), bed.path("").display().to_string()));
    bed.config["run"]["sandbox"] = json!("bubblewrap");
    let ran = bed.start_program(&["check"]).wait();
    assert_eq!(ran.code, Some(3), "{}{}", ran.stdout, ran.stderr);
    let told = ran
        .stdout
        .lines()
        .find(|line| line.contains("`bwrap` does not work here: "));
    assert!(
        told.is_some_and(|line| line.contains("exit status: 3; ")),
        "{}",
        ran.stdout
    );
}
