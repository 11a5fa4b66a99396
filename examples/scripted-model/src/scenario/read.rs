//! From the file's values to scenarios.

use super::fault::{self, FAULT_KEYS};
use super::node::Node;
use super::script::{Beat, Play, Scenario, Scenarios};
use super::step::{self, TURN_KEYS};
use super::{Key, ScenarioError};
use serde_json::Value;
use std::collections::BTreeMap;
use std::time::Duration;

/// The name of the play that `steps` of a scenario is.
const STEPS: &str = "steps";

pub(super) fn file(value: &Value) -> Result<Scenarios, ScenarioError> {
    let root = Node::root(value);
    root.only(&["requireKey", "models", "scenarios"])?;
    let texts = |key| root.get(key).map_or(Ok(Vec::new()), |node| texts(&node));
    let mut list: Vec<Scenario> = Vec::new();
    for (index, node) in root.need("scenarios")?.list()?.iter().enumerate() {
        let position = format!("#{}", index + 1);
        let name = node.value().get("name").and_then(Value::as_str).unwrap_or(&position);
        if list.iter().any(|other| other.name == name) {
            return Err(node
                .in_scenario(name)
                .need("name")?
                .error("another scenario has this name"));
        }
        list.push(scenario(&node.in_scenario(name), name)?);
    }
    let require_key = root
        .get("requireKey")
        .map(|node| node.text())
        .transpose()?
        .map(Key::new);
    Ok(Scenarios {
        list,
        require_key,
        models: texts("models")?,
    })
}

fn scenario(node: &Node<'_>, name: &str) -> Result<Scenario, ScenarioError> {
    node.only(&["name", "when", "steps", "plays", "every", "onIteration", "words"])?;
    if let Some(name) = node.get("name") {
        name.text()?;
    }
    let mut plays = BTreeMap::new();
    if let Some(steps) = node.get("steps") {
        plays.insert(STEPS.to_owned(), play(&steps)?);
    }
    for (name, steps) in node.get("plays").map_or(Ok(Vec::new()), |plays| plays.entries())? {
        if plays.insert(name.to_owned(), play(&steps)?).is_some() {
            return Err(steps.error("this name is taken by the scenario's own steps"));
        }
    }
    let known = |name: &Node<'_>| {
        let text = name.text()?;
        let names = || plays.keys().cloned().collect::<Vec<_>>().join(", ");
        if plays.contains_key(&text) {
            Ok(text)
        } else {
            Err(name.error(format!("no such play; plays: {}", names())))
        }
    };
    let mut on_iteration = BTreeMap::new();
    for (iteration, name) in node.get("onIteration").map_or(Ok(Vec::new()), |node| node.entries())? {
        let number = iteration.parse().ok().filter(|number| *number > 0);
        let number = number.ok_or_else(|| name.error("expected the number of an iteration, from 1"))?;
        on_iteration.insert(number, known(&name)?);
    }
    let every = match node.get("every") {
        Some(every) => every.list()?.iter().map(known).collect::<Result<Vec<_>, _>>()?,
        None if plays.contains_key(STEPS) => vec![STEPS.to_owned()],
        None => return Err(node.error("give steps, or plays and every")),
    };
    if every.is_empty() {
        return Err(node.need("every")?.error("expected at least one play"));
    }
    let mut words = BTreeMap::new();
    for (name, list) in node.get("words").map_or(Ok(Vec::new()), |node| node.entries())? {
        let list_of = texts(&list)?;
        if list_of.is_empty() {
            return Err(list.error("expected at least one word"));
        }
        words.insert(name.to_owned(), list_of);
    }
    Ok(Scenario {
        name: name.to_owned(),
        when: texts(&node.need("when")?)?,
        plays,
        every,
        on_iteration,
        words,
    })
}

fn play(steps: &Node<'_>) -> Result<Play, ScenarioError> {
    let mut beats = Vec::new();
    let mut faults = Vec::new();
    let mut asked: Option<Node<'_>> = None;
    for step in steps.list()? {
        let kinds = || TURN_KEYS.iter().chain(&FAULT_KEYS);
        let given: Vec<_> = kinds().filter(|kind| step.get(kind).is_some()).collect();
        let &[kind] = given.as_slice() else {
            let known: Vec<_> = kinds().copied().collect();
            let found: Vec<_> = step.entries()?.into_iter().map(|(key, _)| key).collect();
            let (known, found) = (known.join(", "), found.join(", "));
            return Err(step.error(format!("expected exactly one of {known}; found {found}")));
        };
        let delay = Duration::from_millis(step.get("delayMs").map_or(Ok(0), |node| node.number())?);
        if FAULT_KEYS.contains(kind) {
            faults.push(fault::read(&step, kind, delay)?);
        } else {
            let turn = Some(step::read(&step, kind, delay)?);
            beats.push(Beat {
                faults: std::mem::take(&mut faults),
                turn,
            });
            asked = (*kind == "ask").then_some(step);
        }
    }
    if !faults.is_empty() {
        beats.push(Beat { faults, turn: None });
    } else if let Some(step) = asked {
        return Err(step.error("a question needs a step after it; the last word is an answer"));
    }
    if beats.is_empty() {
        return Err(steps.error("expected at least one step"));
    }
    Ok(Play { beats })
}

fn texts(node: &Node<'_>) -> Result<Vec<String>, ScenarioError> {
    node.one_or_more()?.iter().map(Node::text).collect()
}
