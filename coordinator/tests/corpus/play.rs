//! Plays a group of scenarios with the real program and reads back what it recorded.

use std::fs;
use std::ops::ControlFlow;
use std::os::unix::fs::PermissionsExt;

use mcproctor::outcome::Outcome;
use mcproctor::record::{AttemptRecord, RunRecord};
use mcproctor::store::{AttemptFilter, Reader};
use serde_json::{Value, json};

use crate::desk::desk;
use crate::scenario::{Group, Player, Scenario};
use crate::support::{Bed, MODEL_KEY, Results, end};

/// What one run recorded.
pub(crate) struct Played {
    /// The exit code.
    pub(crate) exit: Option<i32>,
    /// The run as it was planned.
    pub(crate) run: RunRecord,
    /// Every attempt, in the order in which they were stored.
    pub(crate) attempts: Vec<AttemptRecord>,
    /// `results.json`.
    pub(crate) results: Results,
}

/// Plays these scenarios in one run.
pub(crate) fn play(group: &Group, scenarios: &[Scenario]) -> Played {
    let mut bed = Bed::new(&json!({ "scenarios": scenarios.iter().map(model).collect::<Vec<_>>() }).to_string());
    if group.process {
        let program = bed.path("desk.py");
        fs::write(&program, include_str!("agents/desk.py")).unwrap();
        bed.config["mcp"] = json!({ "command": "python3", "args": [program.display().to_string()] });
    } else {
        bed.serve(desk(scenarios));
    }
    for scenario in scenarios {
        write_case(&bed, scenario);
    }
    let agent = match group.player {
        Player::Builtin => builtin(&bed, scenarios),
        Player::Claude => claude(&mut bed, scenarios),
    };
    bed.agents(&[agent]);
    let run = bed.config["run"].as_object_mut().unwrap();
    run.insert("concurrency".to_owned(), json!(6));
    run.insert("maxAttempts".to_owned(), json!(1));
    run.extend(group.run.clone());
    let mut running = bed.start(&["--output", "json"]);
    if group.kill_worker {
        running.wait_for("attempts", |out| {
            out.matches("\"call_started\"").count() >= scenarios.len()
        });
        running.workers().iter().for_each(end);
    }
    let ran = running.wait();
    bed.wait_until_nothing_runs();
    let reader = Reader::open(&bed.reports()).unwrap();
    let id = reader.runs().unwrap().remove(0).id;
    let (run, _) = reader.run(&id).unwrap().unwrap();
    let mut attempts = Vec::new();
    let every = AttemptFilter::ALL;
    reader
        .for_each_attempt(&id, every, &mut |attempt| {
            attempts.push(attempt);
            ControlFlow::Continue(())
        })
        .unwrap();
    Played {
        exit: ran.code,
        run,
        attempts,
        results: bed.results(),
    }
}

/// `passed`, `failed/CLASS`, `invalid/CAUSE` or `aborted`.
pub(crate) fn verdict(outcome: Outcome) -> String {
    match outcome {
        Outcome::Failed(class) => format!("failed/{}", class.name()),
        Outcome::Invalid(cause) => format!("invalid/{}", cause.name()),
        Outcome::Passed | Outcome::Aborted => outcome.name().to_owned(),
    }
}

fn model(scenario: &Scenario) -> Value {
    let silent = vec![json!({ "answer": "Nothing to say." })];
    let steps = if scenario.model.is_empty() {
        &silent
    } else {
        &scenario.model
    };
    json!({ "name": scenario.id, "when": format!("[{}]", scenario.id), "steps": steps })
}

fn write_case(bed: &Bed, scenario: &Scenario) {
    let mut case = scenario.case.clone();
    let prompt = case.get("prompt").and_then(Value::as_str).unwrap_or("Do it.");
    let prompt = format!("{prompt} [{}]", scenario.id);
    case.insert("prompt".to_owned(), json!(prompt));
    case.insert("name".to_owned(), json!(scenario.id));
    let text = Value::Object(case).to_string();
    fs::write(bed.path(&format!("testcases/{}.yaml", scenario.id)), text).unwrap();
}

/// The built-in agent inside `around.sh`.
fn builtin(bed: &Bed, scenarios: &[Scenario]) -> Value {
    let script = bed.path("around.sh");
    fs::write(&script, include_str!("agents/around.sh")).unwrap();
    let behaviours = bed.path("behaviours");
    fs::create_dir(&behaviours).unwrap();
    for scenario in scenarios {
        if let Some(behaviour) = &scenario.agent {
            fs::write(behaviours.join(&scenario.id), behaviour).unwrap();
        }
    }
    let mut agent = bed.builtin();
    let own = agent["command"].as_str().unwrap().to_owned();
    let mut args = vec![
        script.display().to_string(),
        behaviours.display().to_string(),
        "{mcp_config}".to_owned(),
        own,
    ];
    let with_query = |arg: &str| arg.replace("{mcp_config}", "mcp.json");
    args.extend(Bed::builtin_args().into_iter().map(with_query));
    agent["command"] = json!("sh");
    agent["args"] = json!(args);
    agent["resumeArgs"] = json!(args);
    agent
}

/// `player.py` in the place of Claude Code.
fn claude(bed: &mut Bed, scenarios: &[Scenario]) -> Value {
    let program = bed.path("player.py");
    fs::write(
        &program,
        format!("#!/usr/bin/env python3\n{}", include_str!("agents/player.py")),
    )
    .unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    let folder = bed.path("plays");
    fs::create_dir(&folder).unwrap();
    for scenario in scenarios {
        let turns = serde_json::to_string(&scenario.does).unwrap();
        fs::write(folder.join(format!("{}.json", scenario.id)), turns).unwrap();
    }
    bed.env
        .push(("MCPROCTOR_CLAUDE".to_owned(), program.display().to_string()));
    json!({
        "kind": "claude",
        "model": "scripted-1",
        "baseUrl": bed.model_url(),
        "apiKey": MODEL_KEY,
        "env": { "PLAYER_SCENARIOS": folder.display().to_string() },
    })
}
