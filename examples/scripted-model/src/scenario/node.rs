//! A value of the file together with the path that leads to it, so that every complaint names its key.

use super::ScenarioError;
use serde_json::{Map, Value};

/// A value and where it stands.
#[derive(Debug, Clone)]
pub(super) struct Node<'a> {
    scenario: Option<&'a str>,
    path: String,
    value: &'a Value,
}

impl<'a> Node<'a> {
    pub(super) fn root(value: &'a Value) -> Self {
        Self {
            scenario: None,
            path: String::new(),
            value,
        }
    }

    /// The same value as the top of a named scenario.
    pub(super) fn in_scenario(&self, name: &'a str) -> Self {
        Self {
            scenario: Some(name),
            path: String::new(),
            value: self.value,
        }
    }

    pub(super) fn error(&self, problem: impl Into<String>) -> ScenarioError {
        let path = if self.path.is_empty() {
            "(top)".to_owned()
        } else {
            self.path.clone()
        };
        let problem = problem.into();
        match self.scenario {
            Some(scenario) => ScenarioError::Scenario {
                scenario: scenario.to_owned(),
                path,
                problem,
            },
            None => ScenarioError::File { path, problem },
        }
    }

    pub(super) fn value(&self) -> &'a Value {
        self.value
    }

    fn child(&self, key: &str, value: &'a Value) -> Self {
        let path = if self.path.is_empty() {
            key.to_owned()
        } else {
            format!("{}.{key}", self.path)
        };
        Self {
            scenario: self.scenario,
            path,
            value,
        }
    }

    /// The value of a key, if it is given.
    pub(super) fn get(&self, key: &str) -> Option<Node<'a>> {
        let value = self.value.get(key)?;
        Some(self.child(key, value))
    }

    /// The value of a key that has to be given.
    pub(super) fn need(&self, key: &str) -> Result<Node<'a>, ScenarioError> {
        self.get(key).ok_or_else(|| self.error(format!("{key} is missing")))
    }

    /// The entries of a mapping.
    pub(super) fn entries(&self) -> Result<Vec<(&'a str, Node<'a>)>, ScenarioError> {
        Ok(self
            .map()?
            .iter()
            .map(|(key, value)| (key.as_str(), self.child(key, value)))
            .collect())
    }

    /// Refuses a key that is not among `known`.
    pub(super) fn only(&self, known: &[&str]) -> Result<(), ScenarioError> {
        for key in self.map()?.keys() {
            if !known.contains(&key.as_str()) {
                return Err(self
                    .child(key, self.value)
                    .error(format!("unknown key; known keys: {}", known.join(", "))));
            }
        }
        Ok(())
    }

    fn map(&self) -> Result<&'a Map<String, Value>, ScenarioError> {
        self.value.as_object().ok_or_else(|| self.error("expected a mapping"))
    }

    pub(super) fn list(&self) -> Result<Vec<Node<'a>>, ScenarioError> {
        let items = self.value.as_array().ok_or_else(|| self.error("expected a list"))?;
        let item = |(index, value)| Self {
            scenario: self.scenario,
            path: format!("{}[{index}]", self.path),
            value,
        };
        Ok(items.iter().enumerate().map(item).collect())
    }

    /// A list, or one item in its place.
    pub(super) fn one_or_more(&self) -> Result<Vec<Node<'a>>, ScenarioError> {
        if self.value.is_array() {
            self.list()
        } else {
            Ok(vec![self.clone()])
        }
    }

    pub(super) fn text(&self) -> Result<String, ScenarioError> {
        self.value
            .as_str()
            .map(str::to_owned)
            .ok_or_else(|| self.error("expected text"))
    }

    pub(super) fn number(&self) -> Result<u64, ScenarioError> {
        self.value
            .as_u64()
            .ok_or_else(|| self.error("expected a whole number, 0 or more"))
    }

    pub(super) fn truth(&self) -> Result<bool, ScenarioError> {
        self.value.as_bool().ok_or_else(|| self.error("expected true or false"))
    }
}
