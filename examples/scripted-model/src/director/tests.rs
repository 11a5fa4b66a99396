//! The order of plays and faults, message by message.
#![allow(clippy::unwrap_used, reason = "a failed step is a failed test")]

use super::*;
use crate::conversation::Entry;

fn first(session: &str, text: &str) -> Conversation {
    let entries = vec![Entry::User(text.to_owned())];
    Conversation {
        session: Some(session.to_owned()),
        entries,
        ..Conversation::default()
    }
}

fn texts(yaml: &str, sessions: &[&str]) -> Vec<String> {
    let scenarios = Scenarios::from_yaml(yaml).unwrap();
    let mut ledger = Ledger::default();
    let answer = |session: &&str| {
        let decision = decide(
            &scenarios,
            &mut ledger,
            &first(session, "What is the WEATHER in Vienna?"),
        );
        match decision.fault {
            Some(FaultKind::Status { status, .. }) => status.to_string(),
            Some(other) => format!("{other:?}"),
            None => decision.reply.text.unwrap_or_default(),
        }
    };
    sessions.iter().map(answer).collect()
}

#[test]
fn the_first_scenario_whose_text_occurs_is_played() {
    let yaml = "scenarios:
  - {name: graz, when: weather in Graz, steps: [{answer: g}]}
  - {name: vienna, when: [weather, vienna], steps: [{answer: v}]}
  - {name: rest, when: '', steps: [{answer: r}]}";
    assert_eq!(texts(yaml, &["a"]), ["v"]);
}

#[test]
fn plays_rotate_over_conversations_and_an_iteration_can_have_its_own() {
    let yaml = "scenarios:
  - name: a
    when: weather
    plays: {pass: [{answer: p}], fail: [{answer: f}], odd: [{answer: o}]}
    every: [pass, pass, fail]
    onIteration: {4: odd}";
    assert_eq!(
        texts(yaml, &["1", "2", "3", "4", "5", "6"]),
        ["p", "p", "f", "o", "p", "f"]
    );
}

#[test]
fn a_fault_strikes_each_conversation_as_often_as_written() {
    let yaml =
        "scenarios: [{name: a, when: weather, steps: [{status: 429, times: 2}, {status: 500, times: 1}, {answer: p}]}]";
    assert_eq!(
        texts(yaml, &["1", "2", "1", "1", "1", "2"]),
        ["429", "429", "429", "500", "p", "429"]
    );
}

#[test]
fn a_fault_counted_per_scenario_strikes_whoever_comes() {
    let yaml = "scenarios: [{name: a, when: weather, steps: [{status: 429, times: 2, per: scenario}, {answer: p}]}]";
    assert_eq!(texts(yaml, &["1", "2", "3", "1"]), ["429", "429", "p", "p"]);
}

#[test]
fn a_side_request_takes_no_turn_and_counts_as_no_iteration() {
    let yaml = "scenarios: [{name: a, when: weather, plays: {x: [{answer: x}], y: [{answer: y}]}, every: [x, y]}]";
    let scenarios = Scenarios::from_yaml(yaml).unwrap();
    let mut ledger = Ledger::default();
    let title = Conversation {
        side: true,
        ..first("t", "weather")
    };
    assert_eq!(decide(&scenarios, &mut ledger, &title).part, None);
    assert_eq!(
        decide(&scenarios, &mut ledger, &first("a", "weather"))
            .part
            .unwrap()
            .iteration,
        1
    );
}

#[test]
fn placeholders_are_the_words_the_user_said_last() {
    let yaml = "scenarios:
  - name: a
    when: tomorrow
    words: {city: [Vienna, Graz]}
    steps: [{ask: 'Which city?'}, {answer: 'Tomorrow in {city}: {json} sunny'}]";
    let scenarios = Scenarios::from_yaml(yaml).unwrap();
    let mut conversation = first("a", "And tomorrow? I was in Vienna today.");
    conversation
        .entries
        .extend([Entry::Model(None), Entry::User("graz please".to_owned())]);
    let decision = decide(&scenarios, &mut Ledger::default(), &conversation);
    assert_eq!(decision.reply.text.unwrap(), "Tomorrow in Graz: {json} sunny");
}
