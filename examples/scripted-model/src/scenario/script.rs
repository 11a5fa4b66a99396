//! What the endpoint plays.

use super::{Fault, Key, ScenarioError, Turn, read};
use std::collections::BTreeMap;

/// The scenarios of a file, checked.
#[derive(Debug, Clone)]
pub struct Scenarios {
    pub(crate) list: Vec<Scenario>,
    pub(crate) require_key: Option<Key>,
    pub(crate) models: Vec<String>,
}

impl Scenarios {
    /// Reads a scenario file (YAML, or JSON, which is YAML too).
    ///
    /// # Errors
    /// What is wrong, naming the scenario and the key.
    pub fn from_yaml(text: &str) -> Result<Self, ScenarioError> {
        let value = serde_yaml::from_str(text).map_err(|error| ScenarioError::Syntax(error.to_string()))?;
        read::file(&value)
    }

    /// The scenarios of the demo, which need the tools of the weather server.
    ///
    /// # Errors
    /// None in practice: the file is compiled in and read by a test.
    pub fn demo() -> Result<Self, ScenarioError> {
        Self::from_yaml(include_str!("../../scenarios/demo.yaml"))
    }
}

/// One scenario: which conversations it is for and what they get.
#[derive(Debug, Clone)]
pub(crate) struct Scenario {
    pub(crate) name: String,
    /// Texts that the first user message holds, all of them, whatever their case.
    pub(crate) when: Vec<String>,
    pub(crate) plays: BTreeMap<String, Play>,
    /// Names of plays, taken in turn by conversation.
    pub(crate) every: Vec<String>,
    /// Names of plays for certain conversations, counted from 1.
    pub(crate) on_iteration: BTreeMap<u64, String>,
    /// Words that a placeholder stands for.
    pub(crate) words: BTreeMap<String, Vec<String>>,
}

impl Scenario {
    /// Whether the scenario is for conversations that start with this text.
    pub(crate) fn matches(&self, first_message: &str) -> bool {
        let message = first_message.to_lowercase();
        self.when.iter().all(|text| message.contains(&text.to_lowercase()))
    }

    /// The name and the play of a conversation, counted from 1.
    pub(crate) fn play(&self, iteration: u64) -> Option<(&str, &Play)> {
        let rotated = || {
            let length = self.every.len() as u64;
            let index = iteration.saturating_sub(1).checked_rem(length)?;
            self.every.get(usize::try_from(index).ok()?)
        };
        let name = self.on_iteration.get(&iteration).or_else(rotated)?;
        self.plays.get_key_value(name).map(|(name, play)| (name.as_str(), play))
    }
}

/// A script.
#[derive(Debug, Clone, Default)]
pub(crate) struct Play {
    pub(crate) beats: Vec<Beat>,
}

/// One turn of the model and the faults that come before it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Beat {
    pub(crate) faults: Vec<Fault>,
    /// None where a script ends in faults.
    pub(crate) turn: Option<Turn>,
}
