//! What the command line changes about a config.

use mcproctor_proto::agent::Agent;

use super::resolve::{CONCURRENCY, ITERATIONS};
use super::settings::Config;
use crate::threshold::{Measure, Share, Thresholds};

/// Values of the command line; what is absent stays as configured.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Overrides {
    /// `-i`: iterations of each cell.
    pub iterations: Option<u32>,
    /// `--agent`: the names of the agents to run; empty means all.
    pub agents: Vec<String>,
    /// `--concurrency`: iterations at once.
    pub concurrency: Option<u32>,
    /// `--min-pass-rate`: what each agent's suite has to reach.
    pub min_pass_rate: Option<Share>,
    /// `--threshold-on`: what has to reach it.
    pub threshold_on: Option<Measure>,
    /// `--no-thresholds`: nothing has to be reached.
    pub no_thresholds: bool,
}

/// Why an override cannot be applied.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OverrideError {
    /// Not a number of iterations that a run can have.
    #[error("iterations: {0} is out of range; accepted: a whole number from {low} to {high}", low = ITERATIONS.start(), high = ITERATIONS.end())]
    Iterations(u32),
    /// Not a number of iterations that can run at once.
    #[error("concurrency: {0} is out of range; accepted: a whole number from {low} to {high}", low = CONCURRENCY.start(), high = CONCURRENCY.end())]
    Concurrency(u32),
    /// The config has no such agent.
    #[error("agent: the config has no agent named `{name}`; it has {}", .configured.join(", "))]
    UnknownAgent {
        /// What was asked for.
        name: String,
        /// What there is.
        configured: Vec<String>,
    },
}

impl Config {
    /// The config with the command line's values in place of its own. Agents keep the order of the file.
    pub fn with_overrides(mut self, overrides: &Overrides) -> Result<Self, OverrideError> {
        if let Some(iterations) = overrides.iterations {
            if !ITERATIONS.contains(&iterations) {
                return Err(OverrideError::Iterations(iterations));
            }
            self.run.iterations = iterations;
        }
        if let Some(concurrency) = overrides.concurrency {
            if !CONCURRENCY.contains(&concurrency) {
                return Err(OverrideError::Concurrency(concurrency));
            }
            self.run.concurrency = Some(concurrency);
        }
        if overrides.no_thresholds {
            self.run.thresholds = Thresholds::default();
        }
        if overrides.min_pass_rate.is_some() {
            self.run.thresholds.suite = overrides.min_pass_rate;
        }
        if let Some(on) = overrides.threshold_on {
            self.run.thresholds.on = on;
        }
        let known = |name: &String| self.run.agents.iter().any(|agent| agent.name == *name);
        if let Some(name) = overrides.agents.iter().find(|name| !known(name)) {
            return Err(OverrideError::UnknownAgent {
                name: name.clone(),
                configured: self.run.agents.iter().map(|agent| agent.name.clone()).collect(),
            });
        }
        if !overrides.agents.is_empty() {
            self.run
                .agents
                .retain(|agent: &Agent| overrides.agents.contains(&agent.name));
        }
        Ok(self)
    }
}
