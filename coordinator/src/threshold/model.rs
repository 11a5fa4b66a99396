//! What is asked of a run.

use serde::{Deserialize, Serialize};

use super::share::Share;

/// What a run has to reach; nothing by default.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Thresholds {
    /// For each agent over all its test cases, each of which weighs the same.
    pub suite: Option<Share>,
    /// For each test case with each agent.
    pub test_case: Option<Share>,
    /// What has to reach it.
    pub on: Measure,
}

/// What is held against a threshold.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Measure {
    /// The rate itself. A lucky run passes.
    #[default]
    Rate,
    /// The lower end of the rate's 95% range. A run passes only when luck is no explanation.
    LowerEnd,
}

impl Measure {
    /// Both, by the names of the config.
    pub const NAMES: [(&'static str, Self); 2] = [("rate", Self::Rate), ("lowerEnd", Self::LowerEnd)];
}

impl Thresholds {
    /// Whether anything is asked.
    pub fn is_empty(&self) -> bool {
        self.suite.is_none() && self.test_case.is_none()
    }
}
