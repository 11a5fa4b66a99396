//! `results.json` as a reader uses it.

use std::fs;
use std::ops::Deref;
use std::path::Path;

use serde_json::Value;

/// A whole `results.json`.
pub struct Results(Value);

impl Results {
    pub(super) fn read(path: &Path) -> Self {
        let text = fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        Self(serde_json::from_slice(&text).unwrap())
    }

    /// The iterations.
    pub fn iterations(&self) -> &[Value] {
        self.0["iterations"].as_array().unwrap()
    }

    /// The only iteration.
    pub fn only(&self) -> &Value {
        let [only] = self.iterations() else {
            panic!("not one iteration: {:#}", self.0["iterations"]);
        };
        only
    }

    /// `passed`, `failed/agent_error`, `invalid/model` and the like, of the only iteration.
    pub fn verdict(&self) -> String {
        verdict(self.only())
    }

    /// The same of every iteration.
    pub fn verdicts(&self) -> Vec<String> {
        self.iterations().iter().map(verdict).collect()
    }

    /// Why, in words, of the only iteration.
    pub fn reason(&self) -> &str {
        self.only()["reason"].as_str().unwrap()
    }

    /// The states of the calls of the only iteration, as `tool: state`.
    pub fn calls(&self) -> Vec<String> {
        let calls = self.only()["calls"].as_array().map(Vec::as_slice).unwrap_or_default();
        let text = |value: &Value| value.as_str().unwrap_or("?").to_owned();
        calls
            .iter()
            .map(|call| format!("{}: {}", text(&call["tool"]), text(&call["state"])))
            .collect()
    }

    /// A count of the totals.
    pub fn total(&self, name: &str) -> u64 {
        self.0["totals"][name]
            .as_u64()
            .unwrap_or_else(|| panic!("no total {name}"))
    }
}

impl Deref for Results {
    type Target = Value;

    fn deref(&self) -> &Value {
        &self.0
    }
}

fn verdict(iteration: &Value) -> String {
    let outcome = iteration["outcome"].as_str().unwrap_or("none");
    match iteration["class"].as_str().or(iteration["cause"].as_str()) {
        Some(why) => format!("{outcome}/{why}"),
        None => outcome.to_owned(),
    }
}
