//! What can be wrong with a scenario file.

/// Why a scenario file is not accepted; it names the scenario and the key.
#[derive(Debug, thiserror::Error)]
pub enum ScenarioError {
    /// The text is neither YAML nor JSON.
    #[error("not readable as YAML: {0}")]
    Syntax(String),
    /// A key outside any scenario is wrong.
    #[error("{path}: {problem}")]
    File {
        /// The key, from the top of the file.
        path: String,
        /// What is wrong with it.
        problem: String,
    },
    /// A key of a scenario is wrong.
    #[error("scenario {scenario:?}: {path}: {problem}")]
    Scenario {
        /// The scenario's name, or its position if it has none.
        scenario: String,
        /// The key, from the top of the scenario.
        path: String,
        /// What is wrong with it.
        problem: String,
    },
}
