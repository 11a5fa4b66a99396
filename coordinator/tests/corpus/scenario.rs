//! The scenario files: what is played, and what is true of it.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use serde::Deserialize;
use serde_json::{Map, Value};

/// A file of scenarios that are played in one run.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Group {
    /// What it is about, for readers.
    #[serde(rename = "about")]
    _about: String,
    /// Keys of `run` that differ from the usual.
    #[serde(default)]
    pub(crate) run: Map<String, Value>,
    /// Who plays.
    #[serde(default)]
    pub(crate) player: Player,
    /// What happens stops the run: each scenario has a run of its own, and its iteration is left without a result.
    #[serde(default)]
    pub(crate) stops: bool,
    /// The server is `agents/desk.py`, a process of each attempt's own.
    #[serde(default)]
    pub(crate) process: bool,
    /// The worker is killed once every scenario has been begun.
    #[serde(default)]
    pub(crate) kill_worker: bool,
    /// The exit code of the run.
    #[serde(default)]
    pub(crate) exit: i32,
    scenarios: Vec<Value>,
}

/// Who plays the agent.
#[derive(Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum Player {
    /// The built-in agent, whose model plays the scenario's `model`.
    #[default]
    Builtin,
    /// A program that does the scenario's `does` and prints what Claude Code prints.
    Claude,
}

/// One recorded iteration.
#[derive(Clone, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Scenario {
    /// What happens.
    pub(crate) name: String,
    /// Stands in the prompt; made up.
    #[serde(skip)]
    pub(crate) id: String,
    /// The test case; name and prompt are made up where they are not given.
    pub(crate) case: Map<String, Value>,
    /// What the server answers, by tool or method, one answer after another; the last one stays.
    #[serde(default)]
    pub(crate) server: BTreeMap<String, Vec<Value>>,
    /// What the model does: steps of the scripted model.
    #[serde(default)]
    pub(crate) model: Vec<Value>,
    /// What the agent's process does beside it; see `agents/around.sh`.
    #[serde(default)]
    pub(crate) agent: Option<String>,
    /// What the agent does, turn by turn; see `agents/player.py`.
    #[serde(default)]
    pub(crate) does: Vec<Vec<Value>>,
    /// What is true of it.
    pub(crate) truth: Truth,
}

/// What is true of an iteration, whatever any program says.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Truth {
    /// `passed`, `failed/CLASS` or `invalid/CAUSE`.
    pub(crate) verdict: String,
    /// The calls that reached the server or were sent to it: tool and state, in any order.
    pub(crate) calls: Vec<String>,
    /// Turns of the last attempt.
    #[serde(default = "one")]
    pub(crate) turns: usize,
    /// What earlier attempts came to.
    #[serde(default)]
    pub(crate) earlier: Vec<String>,
    /// Expectations that are not met.
    pub(crate) unmet: Option<usize>,
    /// Things done outside of the servers.
    #[serde(default)]
    pub(crate) escapes: usize,
    /// Resources read and prompts fetched, with `ok` or `refused`.
    #[serde(default)]
    pub(crate) requests: Vec<String>,
    /// Whether the first of the case's expected tools was shown to the model; not said where nobody can tell.
    #[serde(default)]
    pub(crate) reached: Option<bool>,
}

fn one() -> usize {
    1
}

impl Group {
    /// Reads a file of the folder `scenarios`.
    pub(crate) fn read(name: &str) -> Self {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/corpus/scenarios/{name}.yaml"));
        let text = fs::read_to_string(&path).unwrap();
        serde_yaml::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    }

    /// Every scenario, tables written out.
    pub(crate) fn scenarios(&self) -> Vec<Scenario> {
        let mut names = BTreeSet::new();
        let written = self.scenarios.iter().flat_map(write_out).enumerate();
        let read = written.map(|(index, value)| {
            let shown = value.to_string();
            let mut scenario: Scenario =
                serde_json::from_value(value).unwrap_or_else(|error| panic!("{error} in {shown}"));
            scenario.id = format!("s{index:03}");
            scenario.check();
            assert!(names.insert(scenario.name.clone()), "{} is there twice", scenario.name);
            scenario
        });
        read.collect()
    }
}

impl Scenario {
    /// What has to be said for a scenario to be one.
    fn check(&self) {
        let failed = self.truth.verdict.starts_with("failed/");
        let by_expectation =
            failed && !["failed/agent_error", "failed/ran_out_of_time"].contains(&&*self.truth.verdict);
        assert!(
            !by_expectation || self.truth.unmet.is_some_and(|unmet| unmet > 0),
            "{}: `unmet` is not said",
            self.name
        );
        assert!(
            self.model.is_empty() || self.does.is_empty(),
            "{}: two players",
            self.name
        );
    }
}

/// A scenario with `each` is one for every row; `$key` stands for what the row has there.
fn write_out(scenario: &Value) -> Vec<Value> {
    let Some(rows) = scenario.get("each").and_then(Value::as_array) else {
        return vec![scenario.clone()];
    };
    let mut pattern = scenario.clone();
    pattern.as_object_mut().unwrap().remove("each");
    rows.iter()
        .map(|row| fill_in(&pattern, row.as_object().unwrap()))
        .collect()
}

fn fill_in(value: &Value, row: &Map<String, Value>) -> Value {
    match value {
        Value::String(text) => match text.strip_prefix('$').and_then(|key| row.get(key)) {
            Some(whole) => whole.clone(),
            None => Value::String(row.iter().fold(text.clone(), |text, (key, value)| {
                let shown = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
                text.replace(&format!("${key}"), &shown)
            })),
        },
        Value::Array(items) => items.iter().map(|item| fill_in(item, row)).collect(),
        Value::Object(fields) => fields
            .iter()
            .map(|(key, value)| {
                (
                    fill_in(&Value::String(key.clone()), row).as_str().unwrap().to_owned(),
                    fill_in(value, row),
                )
            })
            .collect(),
        other => other.clone(),
    }
}
