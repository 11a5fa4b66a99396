//! Slow: real agents through the whole program, against a model that plays scenarios.
//!
//! They are installed by `npm ci --prefix docker/agents`; `MCPROCTOR_CLAUDE` and `MCPROCTOR_CODEX` name others.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test may fail by panicking"
)]

mod support;
#[path = "real_agents/usage.rs"]
mod usage;

use serde_json::{Value, json};

use support::{Answer, Bed, Results, well_at_first};

const FAULTS: &str = include_str!("../../examples/scripted-model/scenarios/faults.yaml");

/// A bed with one test case whose prompt picks the scenario.
fn bed(scenario: &str, expected_tools: &[&str]) -> Bed {
    let mut bed = Bed::new(FAULTS);
    bed.case("case", &format!("Do it. {scenario}"), expected_tools);
    bed.config["run"]["timeoutSeconds"] = json!(120);
    bed.config["run"]["maxAttempts"] = json!(2);
    // Every scenario holds at every level; which one is tried can be named.
    if let Ok(level) = std::env::var("MCPROCTOR_TEST_SANDBOX") {
        bed.config["run"]["sandbox"] = json!(level);
    }
    bed
}

/// The verdicts of claude and of codex, and all the rest.
fn with_both(bed: &mut Bed, iterations: u32, code: i32) -> Results {
    let agents = [bed.claude(), bed.codex()];
    bed.agents(&agents);
    let ran = bed.run(&["-i", &iterations.to_string()]);
    assert_eq!(ran.code, Some(code));
    bed.wait_until_nothing_runs();
    bed.results()
}

/// One value of each iteration, by its JSON pointer.
fn each(results: &Results, pointer: &str) -> Vec<Value> {
    let iterations = results.iterations().iter();
    iterations
        .map(|iteration| iteration.pointer(pointer).cloned().unwrap_or_default())
        .collect()
}

fn reasons(results: &Results) -> Vec<String> {
    each(results, "/reason")
        .into_iter()
        .map(|reason| reason.as_str().unwrap().to_owned())
        .collect()
}

#[test]
fn slow_a_call_passes_and_its_result_is_in_the_reply() {
    let mut bed = bed("[call]", &["get_current_weather"]);
    let results = with_both(&mut bed, 2, 0);
    assert_eq!(results.verdicts(), ["passed"; 4]);
    assert_eq!(each(&results, "/calls/0/state"), ["ok"; 4]);
    assert_eq!(each(&results, "/attempts"), [1; 4]);
    for reply in each(&results, "/turns/0/reply") {
        assert!(reply.as_str().unwrap().starts_with("Vienna: "), "{reply}");
    }
    assert_eq!(results["totals"]["iterationsWithEscapes"], 0);
    assert_eq!(each(&results, "/traffic/observed"), [true; 4]);
    let sent = each(&results, "/traffic/toolsSent");
    for name in [
        "mcp__mcp-under-test__get_current_weather",
        "mcp__mcp_under_test.get_current_weather",
    ] {
        let with_it = sent
            .iter()
            .filter(|sent| sent.as_array().unwrap().contains(&json!(name)));
        assert_eq!(with_it.count(), 2, "{name}: {sent:?}");
    }
    for agent in results["run"]["agents"].as_array().unwrap() {
        assert!(
            agent["version"].as_str().is_some_and(|version| version.contains('.')),
            "{agent}"
        );
        assert_eq!(agent["ownLogin"], false);
    }
    for tokens in each(&results, "/usage/inputTokens") {
        assert!(tokens.as_u64().unwrap() > 0);
    }
}

#[test]
fn slow_a_tool_that_is_searched_for_reaches_the_model_once_it_is_found() {
    for (scenario, expected, found) in [
        ("[call]", "get_current_weather", true),
        ("[empty]", "get_forecast", false),
    ] {
        let mut bed = bed(scenario, &[expected]);
        let mut claude = bed.claude();
        claude["toolLoading"] = json!("deferred");
        bed.agents(&[claude]);
        assert_eq!(bed.run(&[]).code, Some(0));
        let results = bed.results();
        let sent = results.only()["traffic"]["toolsSent"].as_array().unwrap();
        assert!(sent.contains(&json!("ToolSearch")), "{sent:?}");
        let name = json!(format!("mcp__mcp-under-test__{expected}"));
        assert_eq!(sent.contains(&name), found, "{scenario}: {sent:?}");
    }
}

#[test]
fn slow_how_tools_were_loaded_is_recorded_as_it_was_seen() {
    let mut bed = bed("[call]", &["get_current_weather"]);
    let agent = |mut agent: Value, name: &str, settings: &[(&str, Value)]| {
        agent["name"] = json!(name);
        for (key, value) in settings {
            agent[*key] = value.clone();
        }
        agent
    };
    let (claude, codex) = (bed.claude(), bed.codex());
    let overruled = json!({ "CLAUDE_CODE_MAX_RETRIES": "2", "ENABLE_TOOL_SEARCH": "false" });
    let own_tools = ("builtinTools", json!("default"));
    let (upfront, deferred) = (("toolLoading", json!("upfront")), ("toolLoading", json!("deferred")));
    let of_codex = |model| ("model", json!(model));
    bed.agents(&[
        agent(claude.clone(), "by-itself", &[]),
        agent(claude.clone(), "upfront", &[own_tools.clone(), upfront]),
        agent(claude.clone(), "deferred", std::slice::from_ref(&deferred)),
        agent(claude, "overruled", &[own_tools, deferred, ("env", overruled)]),
        agent(codex.clone(), "plain", &[]),
        agent(codex.clone(), "searching", &[of_codex("gpt-5.5")]),
        agent(codex, "scripting", &[of_codex("gpt-6-sol")]),
    ]);
    let ran = bed.run(&["-i", "1"]);
    assert_eq!(ran.code, Some(0), "{}{}", ran.stdout, ran.stderr);
    let results = bed.results();
    assert_eq!(results.verdicts(), ["passed"; 7]);
    let agents = results["run"]["agents"].as_array().unwrap();
    let seen: Vec<_> = agents
        .iter()
        .map(|agent| {
            (
                agent["name"].as_str().unwrap(),
                &agent["toolLoading"],
                &agent["toolLoadingSeen"],
            )
        })
        .collect();
    let (upfront, deferred) = (json!("upfront"), json!("deferred"));
    assert_eq!(
        seen,
        [
            ("by-itself", &Value::Null, &json!(["upfront"])),
            ("upfront", &upfront, &json!(["upfront"])),
            ("deferred", &deferred, &json!(["deferred"])),
            ("overruled", &deferred, &json!(["upfront"])),
            ("plain", &Value::Null, &json!(["upfront"])),
            ("searching", &Value::Null, &json!(["deferred"])),
            ("scripting", &Value::Null, &json!(["unknown"])),
        ]
    );
    let told = |agent: &str| {
        let start = format!("notice: agent {agent}: ");
        let lines = ran
            .stdout
            .lines()
            .filter(|line| line.contains(&start) && line.contains("tool definitions"));
        lines.map(str::to_owned).collect::<Vec<_>>()
    };
    // The scripted model is at another address than Anthropic's.
    assert!(
        told("overruled")[0].contains("at another API than its maker's claude by itself sends them up front"),
        "{}",
        ran.stdout
    );
    assert!(
        told("overruled")[1].contains("were seen to be sent up front"),
        "{}",
        ran.stdout
    );
    let counts = ["by-itself", "upfront", "deferred", "overruled", "plain"].map(|agent| told(agent).len());
    assert_eq!(counts, [0, 0, 1, 2, 0], "{}", ran.stdout);
    let searching = &results.iterations()[5]["traffic"];
    let found = json!("mcp__mcp_under_test.get_current_weather");
    for list in ["toolsSent", "toolsDeferred"] {
        assert!(searching[list].as_array().unwrap().contains(&found), "{searching}");
    }
    bed.wait_until_nothing_runs();
}

#[test]
fn slow_calls_side_by_side_are_each_counted() {
    let mut bed = bed("[parallel]", &["get_forecast", "get_forecast"]);
    assert_eq!(with_both(&mut bed, 1, 0).verdicts(), ["passed"; 2]);
}

#[test]
fn slow_an_answer_goes_on_with_the_same_conversation() {
    let mut bed = bed("[ask]", &["get_current_weather"]);
    bed.case_with_answers(
        "case",
        "Do it. [ask]",
        &["get_current_weather"],
        &["In Graz.", "Never needed."],
    );
    let results = with_both(&mut bed, 1, 0);
    assert_eq!(results.verdicts(), ["passed"; 2]);
    assert_eq!(each(&results, "/turns/1/prompt"), ["In Graz."; 2]);
    assert_eq!(each(&results, "/turns/2"), [Value::Null, Value::Null]);
    assert_eq!(each(&results, "/calls/0/arguments/city"), ["Graz"; 2]);
    for reply in each(&results, "/turns/1/reply") {
        assert!(reply.as_str().unwrap().starts_with("Graz: "), "{reply}");
    }
}

#[test]
fn slow_without_tools_of_its_own_an_agent_cannot_leave_the_binding() {
    let mut bed = bed("[shell]", &[]);
    let results = with_both(&mut bed, 1, 0);
    assert_eq!(results["totals"]["iterationsWithEscapes"], 0);
    for reply in each(&results, "/turns/0/reply") {
        assert!(!reply.as_str().unwrap().contains("The shell said"), "{reply}");
    }
}

#[test]
fn slow_they_pass_in_front_of_their_tools_at_every_level() {
    for level in ["landlock", "bubblewrap", "container"] {
        for (scenario, answers) in [("[call]", &[][..]), ("[ask]", &["Graz"][..])] {
            let mut bed = bed(scenario, &[]);
            bed.case_with_answers("case", &format!("Do it. {scenario}"), &["get_current_weather"], answers);
            bed.config["run"]["sandbox"] = json!(level);
            let results = with_both(&mut bed, 1, 0);
            assert_eq!(results.verdicts(), ["passed"; 2], "{level} {scenario}");
            assert_eq!(each(&results, "/sandbox"), [level; 2]);
        }
    }
}

#[test]
fn slow_with_its_own_tools_an_agent_is_confined_without_being_asked_and_its_shell_works() {
    let mut bed = bed("[shell]", &[]);
    if let Some(run) = bed.config["run"].as_object_mut() {
        run.remove("sandbox");
    }
    let mut agents = [bed.claude(), bed.codex()];
    for agent in &mut agents {
        agent["builtinTools"] = json!("default");
    }
    agents[0]["args"] = json!(["--permission-mode", "bypassPermissions"]);
    agents[0]["env"]["IS_SANDBOX"] = json!("1");
    bed.agents(&agents);
    let ran = bed.run(&["-i", "1"]);
    assert_eq!(ran.code, Some(0));
    assert!(
        ran.stdout.contains("agent codex: sandbox container ("),
        "{}",
        ran.stdout
    );
    let results = bed.results();
    assert_eq!(each(&results, "/sandbox"), ["container"; 2]);
    for reply in each(&results, "/turns/0/reply") {
        assert!(reply.as_str().unwrap().contains("out-of-band"), "{reply}");
    }
}

#[test]
fn slow_with_its_own_tools_an_escape_is_seen() {
    let mut bed = bed("[shell]", &["get_current_weather"]);
    let mut agents = [bed.claude(), bed.codex()];
    for agent in &mut agents {
        agent["builtinTools"] = json!("default");
    }
    bed.agents(&agents);
    assert_eq!(bed.run(&["-i", "1"]).code, Some(0));
    let results = bed.results();
    assert_eq!(results.verdicts(), ["failed/escaped"; 2]);
    assert_eq!(each(&results, "/escapes/0/kind"), ["shell"; 2]);
    for what in each(&results, "/escapes/0/what") {
        assert!(what.as_str().unwrap().contains("echo out-of-band"), "{what}");
    }
    assert_eq!(results["totals"]["iterationsWithEscapes"], 2);
}

/// What the model does, what is expected of it, and what that comes to: a test case each.
const CLASSES: &str = include_str!("real_agents/classes.yaml");

#[test]
fn slow_every_class_is_read_off_what_real_agents_did() {
    let cases: Vec<Value> = serde_yaml::from_str(CLASSES).unwrap();
    let id = |index: usize| format!("case-{index:02}");
    let scenario =
        |(index, case): (usize, &Value)| json!({ "when": format!("[{}]", id(index)), "steps": case["does"] });
    let scenarios: Vec<Value> = cases.iter().enumerate().map(scenario).collect();
    let mut bed = Bed::new(&json!({ "scenarios": scenarios }).to_string());
    for (index, case) in cases.iter().enumerate() {
        let mut written = case["case"].clone();
        written["name"] = json!(id(index));
        written["prompt"] = json!(format!("Do it. [{}]", id(index)));
        std::fs::write(bed.path(&format!("testcases/{}.yaml", id(index))), written.to_string()).unwrap();
    }
    let mut agents = [bed.claude(), bed.codex()];
    for agent in &mut agents {
        agent["builtinTools"] = json!("default");
    }
    bed.agents(&agents);
    bed.config["run"]["timeoutSeconds"] = json!(120);
    assert_eq!(bed.run(&[]).code, Some(0));
    let results = bed.results();
    let mut wrong = Vec::new();
    for (iteration, verdict) in results.iterations().iter().zip(results.verdicts()) {
        let index = (0..cases.len())
            .find(|index| iteration["testCase"] == json!(id(*index)))
            .unwrap();
        if verdict != cases[index]["verdict"] {
            wrong.push(format!(
                "{} {}: {verdict}: {}",
                iteration["agent"], cases[index], iteration["reason"]
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert_eq!(results.iterations().len(), 2 * cases.len());
    bed.wait_until_nothing_runs();
}

#[test]
fn slow_an_agents_own_end_and_its_own_time_are_held_against_it() {
    let mut bed = Bed::new(
        "scenarios:
  - {when: '[calls]', steps: [{call: list_cities}, {call: {tool: get_forecast, arguments: {city: Graz}}}, {answer: Sunny.}]}
  - {when: '[sleeps]', steps: [{shell: sleep 120}]}
",
    );
    for name in ["calls", "sleeps"] {
        bed.case(name, &format!("Do it. [{name}]"), &["get_forecast"]);
    }
    let mut patient = bed.claude();
    patient["builtinTools"] = json!("default");
    // Claude Code ends with an error of its own when it is out of turns.
    let mut short = patient.clone();
    short["name"] = json!("short");
    short["args"] = json!(["--max-turns", "1"]);
    bed.agents(&[patient, short]);
    bed.config["run"]["timeoutSeconds"] = json!(20);
    let ran = bed.run(&[]);
    assert_eq!(ran.code, Some(0), "{}{}", ran.stdout, ran.stderr);
    let expected = [
        "passed",
        "failed/ran_out_of_time",
        "failed/agent_error",
        "failed/ran_out_of_time",
    ];
    assert_eq!(bed.results().verdicts(), expected);
    bed.wait_until_nothing_runs();
}

#[test]
fn slow_refusals_that_the_agent_retries_are_got_over() {
    let mut bed = bed("[429-twice]", &["get_current_weather"]);
    assert_eq!(with_both(&mut bed, 1, 0).verdicts(), ["passed"; 2]);
}

#[test]
fn slow_a_rate_limit_without_end_is_the_models() {
    let mut bed = bed("[429]", &["get_current_weather"]);
    bed.config["run"]["timeoutSeconds"] = json!(30);
    let results = with_both(&mut bed, 1, 3);
    assert_eq!(results.verdicts(), ["invalid/model"; 2], "{:?}", reasons(&results));
    assert_eq!(each(&results, "/attempts"), [2; 2]);
}

#[test]
fn slow_an_overloaded_or_broken_model_is_the_models() {
    for scenario in ["[500]", "[529]", "[error-event]", "[cut]"] {
        let mut bed = bed(scenario, &["get_current_weather"]);
        bed.config["run"]["timeoutSeconds"] = json!(30);
        bed.config["run"]["maxAttempts"] = json!(1);
        let results = with_both(&mut bed, 1, 3);
        assert_eq!(
            results.verdicts(),
            ["invalid/model"; 2],
            "{scenario}: {:?}",
            reasons(&results)
        );
    }
}

#[test]
fn slow_a_silent_model_is_not_the_agents_time() {
    for scenario in ["[hang]", "[stall]"] {
        let mut bed = bed(scenario, &["get_current_weather"]);
        bed.config["run"]["timeoutSeconds"] = json!(20);
        bed.config["run"]["maxAttempts"] = json!(1);
        let results = with_both(&mut bed, 1, 3);
        assert_eq!(
            results.verdicts(),
            ["invalid/model"; 2],
            "{scenario}: {:?}",
            reasons(&results)
        );
    }
}

#[test]
fn slow_what_no_retry_gets_over_stops_the_run() {
    for (scenario, words) in [
        ("[401]", "check the agent's key"),
        ("[404]", "check the agent's model"),
        ("[quota]", "no credit or quota left"),
    ] {
        for kind in ["claude", "codex"] {
            let mut bed = bed(scenario, &["get_current_weather"]);
            let agent = if kind == "claude" { bed.claude() } else { bed.codex() };
            bed.agents(&[agent]);
            let ran = bed.run(&["-i", "20"]);
            assert_eq!(ran.code, Some(3), "{kind} {scenario}");
            assert!(
                ran.stderr.starts_with("mcproctor: stopped: ") && ran.stderr.contains(words),
                "{}",
                ran.stderr
            );
            assert_eq!(ran.stderr.lines().count(), 1);
            let results = bed.results();
            assert!(results.total("notRun") >= 16, "{kind} {scenario}");
            assert_eq!(results["totals"]["passRate"]["n"], 0);
        }
    }
}

#[test]
fn slow_a_refused_tool_definition_is_the_servers() {
    let mut bed = bed("[400]", &["get_current_weather"]);
    let results = with_both(&mut bed, 1, 3);
    assert_eq!(results.verdicts(), ["invalid/server"; 2], "{:?}", reasons(&results));
    assert_eq!(each(&results, "/attempts"), [1; 2]);
}

#[test]
fn slow_a_model_that_refuses_the_task_or_says_nothing_has_failed() {
    for scenario in ["[refuse]", "[empty]", "[malformed]"] {
        let mut bed = bed(scenario, &["get_current_weather"]);
        let results = with_both(&mut bed, 1, 0);
        for verdict in results.verdicts() {
            assert!(verdict.starts_with("failed/"), "{scenario}: {verdict}");
        }
    }
}

#[test]
fn slow_the_third_of_five_iterations_fails_as_written() {
    for kind in ["claude", "codex"] {
        let mut bed = bed("[third-fails]", &["get_current_weather"]);
        let agent = if kind == "claude" { bed.claude() } else { bed.codex() };
        bed.agents(&[agent]);
        bed.config["run"]["concurrency"] = json!(1);
        assert_eq!(bed.run(&["-i", "5"]).code, Some(0));
        let results = bed.results();
        let mut verdicts = results.verdicts();
        verdicts.sort();
        assert_eq!(
            verdicts,
            ["failed/never_called", "passed", "passed", "passed", "passed"],
            "{kind}"
        );
    }
}

#[test]
fn slow_a_server_that_goes_down_is_not_the_agents_fault() {
    let mut bed = bed("[call]", &["look_up"]);
    bed.serve(well_at_first(|| Answer::Status(503)));
    let results = with_both(&mut bed, 1, 3);
    assert_eq!(results.verdicts(), ["invalid/server"; 2], "{:?}", reasons(&results));
}

#[test]
fn slow_the_demo_runs_with_both() {
    let mut bed = bed("[call]", &[]);
    let _ = (bed.claude(), bed.codex());
    let args = [
        "demo",
        "--agent",
        "claude",
        "--agent",
        "codex",
        "-i",
        "2",
        "--output",
        "plain",
        "--out-dir",
        "reports",
    ];
    let ran = bed.start_program(&args).wait();
    assert_eq!(ran.code, Some(0));
    let results = bed.results();
    assert_eq!(results.iterations().len(), 16);
    assert_eq!(results.total("passed") + results.total("failed"), 16);
    assert!(results.total("passed") >= 8, "{:#}", results["totals"]);
    bed.wait_until_nothing_runs();
}
