//! The kinds of outcome, and their names.

use std::fmt;

use serde::{Deserialize, Serialize};

/// What one attempt, and so one iteration, came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// Every expectation was met.
    Passed,
    /// The agent did not do what was expected.
    Failed(FailureClass),
    /// Says nothing about the agent: something else got in the way.
    Invalid(InvalidCause),
    /// The run was stopped while it went on.
    Aborted,
}

/// Why an iteration failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FailureClass {
    /// It left out a call that was expected, or made it too seldom, asked nothing else of a server under test, and neither
    /// asked nor gave up in words.
    NeverCalled,
    /// It called other tools, but left out a call that was expected, or made it too seldom.
    WrongTool,
    /// It called the expected tool with arguments that were not those expected.
    WrongArguments,
    /// It called the right tools in another order than the one asked for.
    WrongOrder,
    /// A call of an expected tool failed, and no later one of it succeeded.
    ToolError,
    /// It ended its last turn with a question instead of acting.
    AskedInstead,
    /// It said that it could not or would not do it.
    GaveUp,
    /// It never called an expected tool, and did something outside the MCP binding.
    Escaped,
    /// It did more than it was allowed: forbidden tools, too many calls, the same call twice, too much time, tokens or money.
    TooMuch,
    /// The calls were right, and its answer was not.
    WrongAnswer,
    /// It crashed or reported an error of its own.
    AgentError,
    /// Its time was up, most of it its own.
    RanOutOfTime,
}

/// Why an attempt is invalid.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum InvalidCause {
    /// Worker lost, sandbox not set up, output cut or unreadable, disk full, out of memory.
    Machinery,
    /// The agent never connected to a required server or never listed its tools.
    Exposure,
    /// The model refused, failed or stayed silent.
    Model,
    /// The MCP server was unreachable, answered 5xx, broke the protocol or never answered.
    Server,
    /// What was set aside for it of the run's limits was used up before it came to its end.
    Limit,
}

impl Outcome {
    /// `passed`, `failed`, `invalid` or `aborted`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Passed => "passed",
            Self::Failed(_) => "failed",
            Self::Invalid(_) => "invalid",
            Self::Aborted => "aborted",
        }
    }
}

impl FailureClass {
    /// Every class, in the order of reports.
    pub const ALL: [Self; 12] = [
        Self::NeverCalled,
        Self::WrongTool,
        Self::WrongArguments,
        Self::WrongOrder,
        Self::ToolError,
        Self::AskedInstead,
        Self::GaveUp,
        Self::Escaped,
        Self::TooMuch,
        Self::WrongAnswer,
        Self::AgentError,
        Self::RanOutOfTime,
    ];

    /// The name in results.
    pub fn name(self) -> &'static str {
        match self {
            Self::NeverCalled => "never_called",
            Self::WrongTool => "wrong_tool",
            Self::WrongArguments => "wrong_arguments",
            Self::WrongOrder => "wrong_order",
            Self::ToolError => "tool_error",
            Self::AskedInstead => "asked_instead",
            Self::GaveUp => "gave_up",
            Self::Escaped => "escaped",
            Self::TooMuch => "too_much",
            Self::WrongAnswer => "wrong_answer",
            Self::AgentError => "agent_error",
            Self::RanOutOfTime => "ran_out_of_time",
        }
    }
}

impl FailureClass {
    /// What happened, as a sentence for people.
    pub fn says(self) -> &'static str {
        match self {
            Self::NeverCalled => "The agent left out an expected call, or made too few of it, and called nothing else.",
            Self::WrongTool => "The agent called other tools, but left out an expected call, or made too few of it.",
            Self::WrongArguments => "The agent called the expected tool with other arguments than those expected.",
            Self::WrongOrder => "The agent made the expected calls in another order.",
            Self::ToolError => "A call of an expected tool failed, and no later one of it succeeded.",
            Self::AskedInstead => "The agent ended with a question instead of making the expected call.",
            Self::GaveUp => "The agent said that it could not or would not do it.",
            Self::Escaped => "The agent did something outside the servers and never called the expected tool.",
            Self::TooMuch => "The agent did more than it was allowed to.",
            Self::WrongAnswer => "The agent made the expected calls, but its answer was not what was expected.",
            Self::AgentError => "The agent crashed or reported an error of its own.",
            Self::RanOutOfTime => "The time of a turn was up, most of it the agent's own.",
        }
    }
}

impl InvalidCause {
    /// Every cause, in the order of reports.
    pub const ALL: [Self; 5] = [Self::Server, Self::Model, Self::Exposure, Self::Machinery, Self::Limit];

    /// The name in results.
    pub fn name(self) -> &'static str {
        match self {
            Self::Machinery => "machinery",
            Self::Exposure => "exposure",
            Self::Model => "model",
            Self::Server => "server",
            Self::Limit => "limit",
        }
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Failed(class) => write!(f, "failed ({})", class.name().replace('_', " ")),
            Self::Invalid(cause) => write!(f, "invalid ({})", cause.name()),
            Self::Passed | Self::Aborted => f.write_str(self.name()),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_class_and_cause_is_documented_and_in_the_schema() {
        let outcomes = include_str!("../../../docs/outcomes.md");
        let schema = include_str!("../../../docs/results.schema.json");
        let names = FailureClass::ALL
            .map(FailureClass::name)
            .into_iter()
            .chain(InvalidCause::ALL.map(InvalidCause::name));
        for name in names {
            assert!(outcomes.contains(&format!("`{name}`")), "{name} is not documented");
            assert!(schema.contains(&format!("\"{name}\"")), "{name} is not in the schema");
        }
    }

    #[test]
    fn every_class_has_a_sentence_of_its_own() {
        let sentences: BTreeSet<&str> = FailureClass::ALL.map(FailureClass::says).into();
        assert_eq!(sentences.len(), FailureClass::ALL.len());
        assert!(sentences.iter().all(|sentence| sentence.ends_with('.')));
    }
}
