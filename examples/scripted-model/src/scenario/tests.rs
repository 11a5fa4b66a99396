//! What is accepted, and how complaints name what they are about.
#![allow(clippy::unwrap_used, reason = "a failed step is a failed test")]

use super::*;

fn complaint(yaml: &str) -> String {
    Scenarios::from_yaml(yaml).unwrap_err().to_string()
}

#[test]
fn the_demo_is_accepted_and_plays_the_share_it_promises() {
    let demo = Scenarios::demo().unwrap();
    let current = demo
        .list
        .iter()
        .find(|scenario| scenario.name == "current-weather")
        .unwrap();
    assert_eq!(current.every.len(), 10);
    assert_eq!(current.every.iter().filter(|play| *play == "calls").count(), 7);
}

#[test]
fn every_scenario_file_of_the_folder_is_accepted() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/scenarios");
    let mut files = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        Scenarios::from_yaml(&std::fs::read_to_string(&path).unwrap())
            .map_err(|error| format!("{path:?}: {error}"))
            .unwrap();
        files += 1;
    }
    assert!(files >= 2, "{files} files");
}

#[test]
fn json_is_accepted_too() {
    let json =
        r#"{"scenarios": [{"name": "a", "when": "hi", "onIteration": {"3": "steps"}, "steps": [{"answer": "b"}]}]}"#;
    assert_eq!(Scenarios::from_yaml(json).unwrap().list[0].on_iteration.len(), 1);
}

#[test]
fn a_complaint_names_the_scenario_and_the_key() {
    let unknown = complaint("scenarios: [{name: a, when: hi, steps: [{answer: b, dleayMs: 3}]}]");
    assert!(
        unknown.starts_with("scenario \"a\": steps[0].dleayMs: unknown key; known keys: answer"),
        "{unknown}"
    );
    let status = complaint("scenarios: [{when: hi, steps: [{answer: x}, {status: 200}]}]");
    assert_eq!(
        status,
        "scenario \"#1\": steps[1].status: expected an HTTP status from 400 to 599"
    );
    let both = complaint("scenarios: [{name: a, when: hi, steps: [{answer: b, ask: c}]}]");
    assert!(
        both.starts_with("scenario \"a\": steps[0]: expected exactly one of call, shell"),
        "{both}"
    );
    assert_eq!(complaint("requireKey: 7\nscenarios: []"), "requireKey: expected text");
    assert_eq!(
        complaint("other: 1"),
        "other: unknown key; known keys: requireKey, models, scenarios"
    );
    assert!(complaint("scenarios: [").starts_with("not readable as YAML: "));
}

#[test]
fn a_play_has_to_exist_and_a_question_has_to_lead_on() {
    let play = complaint("scenarios: [{name: a, when: hi, plays: {p: [{answer: b}]}, every: [q]}]");
    assert_eq!(play, "scenario \"a\": every[0]: no such play; plays: p");
    let iteration = complaint("scenarios: [{name: a, when: hi, steps: [{answer: b}], onIteration: {0: steps}}]");
    assert_eq!(
        iteration,
        "scenario \"a\": onIteration.0: expected the number of an iteration, from 1"
    );
    let ask = complaint("scenarios: [{name: a, when: hi, steps: [{ask: b}]}]");
    assert!(
        ask.starts_with("scenario \"a\": steps[0]: a question needs a step after it"),
        "{ask}"
    );
    let none = complaint("scenarios: [{name: a, when: hi}]");
    assert_eq!(none, "scenario \"a\": (top): give steps, or plays and every");
    let twice =
        complaint("scenarios: [{name: a, when: x, steps: [{answer: b}]}, {name: a, when: y, steps: [{answer: b}]}]");
    assert_eq!(twice, "scenario \"a\": name: another scenario has this name");
}

#[test]
fn a_required_key_is_not_printed() {
    let scenarios = Scenarios::from_yaml("requireKey: sk-secret\nscenarios: []").unwrap();
    assert!(!format!("{scenarios:?}").contains("sk-secret"));
}

#[test]
fn the_examples_of_the_documentation_are_accepted() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/scripted-model.md");
    let text = std::fs::read_to_string(path).unwrap();
    let examples: Vec<_> = text
        .split("```yaml\n")
        .skip(1)
        .filter_map(|rest| rest.split("```").next())
        .collect();
    assert_eq!(examples.len(), 3);
    for example in examples {
        let whole = if example.starts_with(' ') {
            format!("scenarios:\n{example}")
        } else {
            example.to_owned()
        };
        Scenarios::from_yaml(&whole)
            .map_err(|error| format!("{error}\n{whole}"))
            .unwrap();
    }
}
