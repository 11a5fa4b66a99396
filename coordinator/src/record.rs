//! What is kept of a run: the shapes that go into the store and come out of it into reports.

use mcproctor_proto::agent::ToolLoading;
use mcproctor_proto::assignment::SandboxLevel;
use mcproctor_proto::call::ToolCall;
use mcproctor_proto::evidence::EvidenceRef;
use mcproctor_proto::exposure::Exposure;
use mcproctor_proto::id::RunId;
use mcproctor_proto::request::McpRequest;
use mcproctor_proto::traffic::ModelTraffic;
use mcproctor_proto::turn::{Turn, Usage};
use serde::{Deserialize, Serialize};

use crate::expectation::Expectations;
use crate::outcome::Outcome;
use crate::price::KnownPrice;
use crate::threshold::{Counts, Shortfall, Thresholds, shortfalls};

/// A run as it was planned: written once, before the first attempt.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RunRecord {
    /// The run.
    pub id: RunId,
    /// The version of mcproctor that planned it.
    pub version: String,
    /// Milliseconds of Unix time.
    pub started_at_unix_ms: i64,
    /// The config file as the user named it.
    pub config_file: String,
    /// SHA-256 of the resolved config without secrets, and of the test cases; a resumed run must match it.
    pub config_sha256: String,
    /// The servers under test: name and address (command line for stdio), without secrets.
    pub servers: Vec<ServerRecord>,
    /// The agents, in config order.
    pub agents: Vec<AgentRecord>,
    /// The test cases, in their order.
    pub test_cases: Vec<TestCaseRecord>,
    /// Iterations of each cell.
    pub iterations: u32,
    /// Attempts at most per iteration.
    pub max_attempts: u32,
    /// The seed of the order in which iterations are given out.
    pub seed: u64,
    /// Things to say at the top of every report.
    pub notices: Vec<String>,
    /// What it has to reach.
    #[serde(default)]
    pub thresholds: Thresholds,
    /// Who gives a second opinion on every iteration, if anybody does.
    #[serde(default)]
    pub judge: Option<JudgeRecord>,
    /// The run whose recordings these are, judged against other test cases; `None` for a run that was held.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub graded_from: Option<RunId>,
    /// Why it was stopped before its end, in words; `None` while it goes on, and when it came to its end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stopped: Option<String>,
}

impl RunRecord {
    /// The number of cells: agents × test cases. Cell `c` is agent `c / test_cases` and test case `c % test_cases`.
    pub fn cells(&self) -> usize {
        self.agents.len() * self.test_cases.len()
    }

    /// The agent of a cell.
    pub fn agent_of(&self, cell: usize) -> Option<&AgentRecord> {
        self.agents.get(cell.checked_div(self.test_cases.len())?)
    }

    /// The test case of a cell.
    pub fn test_case_of(&self, cell: usize) -> Option<&TestCaseRecord> {
        self.test_cases.get(cell.checked_rem(self.test_cases.len())?)
    }

    /// The thresholds that are not met, with what the cells came to.
    pub fn shortfalls(&self, cells: &[Counts]) -> Vec<Shortfall> {
        let agents: Vec<String> = self.agents.iter().map(|agent| agent.name.clone()).collect();
        let cases: Vec<String> = self.test_cases.iter().map(|case| case.name.clone()).collect();
        shortfalls(&self.thresholds, &agents, &cases, cells)
    }

    /// Iterations of the whole run.
    pub fn total_iterations(&self) -> u64 {
        self.cells() as u64 * u64::from(self.iterations)
    }
}

/// A server under test, without secrets.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ServerRecord {
    /// Its configured name.
    pub name: String,
    /// Its URL without user info and query, or its program and how many arguments it gets.
    pub address: String,
}

/// A configured agent, without secrets.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AgentRecord {
    /// The name in reports.
    pub name: String,
    /// claude, codex or command.
    pub kind: String,
    /// The model asked for; the command line's own default when absent.
    pub model: Option<String>,
    /// The program's version as found at the start of the run.
    pub version: Option<String>,
    /// What holds it.
    pub sandbox: SandboxLevel,
    /// The image of its containers, by its id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub image: Option<String>,
    /// Whether it has tools of its own: `none` or `default`.
    pub builtin_tools: String,
    /// How the config asked for tools to be loaded; what its kind does by itself when absent.
    #[serde(default)]
    pub tool_loading: Option<ToolLoading>,
    /// Whether it runs with the user's own login, in the user's own home.
    pub own_login: bool,
    /// What the model asked for costs, as far as it is known.
    #[serde(default)]
    pub price: Option<KnownPrice>,
}

/// A test case as it was read.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TestCaseRecord {
    /// Its name.
    pub name: String,
    /// Its file, relative to the source.
    pub file: String,
    /// The first message.
    pub prompt: String,
    /// Tools that must be called; a name N times means at least N successful calls.
    pub expected_tools: Vec<String>,
    /// What is expected beside them.
    #[serde(default)]
    pub expectations: Expectations,
    /// Scripted replies.
    pub answers: Vec<String>,
    /// What a right answer says, for the judge and for readers.
    pub expected_outcome: Option<String>,
    /// Who picks among `answers`.
    #[serde(default)]
    pub answer_choice: AnswerChoice,
    /// How the agent is to speak.
    #[serde(default)]
    pub tone: Option<Tone>,
}

/// How the next of the scripted replies is found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AnswerChoice {
    /// One after another.
    #[default]
    InOrder,
    /// The judge picks the one that fits, or none; each is used once at most.
    Judge,
}

/// How the agent is to speak, as the judge is told.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Tone {
    /// The description that it is judged against.
    pub rubric: String,
    /// Whether an iteration passes only when the judge says that it was kept to.
    pub gate: bool,
}

/// The judge of a run, without its key.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct JudgeRecord {
    /// The endpoint, without its query.
    pub base_url: String,
    /// The model asked for.
    pub model: String,
}

impl TestCaseRecord {
    /// Tools of which a call is asked for, each at least once; some may be there more often.
    pub fn tools_to_call(&self) -> impl Iterator<Item = &str> {
        let with_arguments = self.expectations.expected_arguments.iter();
        let with_arguments = with_arguments.filter(|entry| entry.calls.least() > 0);
        self.expected_tools
            .iter()
            .chain(with_arguments.map(|entry| &entry.tool))
            .map(String::as_str)
    }
}

/// One attempt, complete. The last attempt of an iteration is the iteration's result.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AttemptRecord {
    /// Index of the cell, from 0.
    pub cell: u32,
    /// Number of the iteration in its cell, from 1.
    pub iteration: u32,
    /// Number of the attempt, from 1.
    pub attempt: u32,
    /// What it came to.
    pub outcome: Outcome,
    /// Why, in words for people.
    pub reason: String,
    /// Whether it is the iteration's result; otherwise a new attempt follows.
    pub last: bool,
    /// Milliseconds of Unix time.
    pub started_at_unix_ms: i64,
    /// Milliseconds.
    pub duration_ms: u64,
    /// The worker that ran it.
    pub worker: String,
    /// What held the agent.
    pub sandbox: SandboxLevel,
    /// The conversation.
    pub turns: Vec<Turn>,
    /// The calls; what is beyond the inline cap is in the evidence.
    pub calls: Vec<ToolCall>,
    /// Requests that are no calls, as far as expectations ask about them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub requests: Vec<McpRequest>,
    /// What was expected, and whether it was met.
    pub expectations: Vec<ExpectationResult>,
    /// What the proxy saw of each server besides calls.
    pub exposures: Vec<Exposure>,
    /// What the relay saw of the model.
    pub traffic: ModelTraffic,
    /// What it cost in US dollars by what the relay counted; `None` when that, or a price, is not known.
    #[serde(default)]
    pub cost_usd: Option<f64>,
    /// Pieces of evidence.
    pub evidence: Vec<EvidenceRef>,
}

/// The kind of thing that an expectation is about; each is a key, or a group of keys, of a test case.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Family {
    /// `expectedTools`.
    #[default]
    Tools,
    /// `expectNoTools`.
    NoTools,
    /// `expectedArguments`.
    Arguments,
    /// `order`.
    Order,
    /// `forbiddenTools`.
    Forbidden,
    /// `maxCalls`.
    Calls,
    /// `noDuplicateCalls`.
    Duplicates,
    /// `expectedResources`.
    Resources,
    /// `expectedPrompts`.
    Prompts,
    /// `responseContains`, `responseOmits`, `responseMatches`.
    Response,
    /// `maxDurationSeconds`.
    Duration,
    /// `maxTokens`.
    Tokens,
    /// `maxCostUsd`.
    Cost,
    /// `tone`, where the test case gates on it.
    Tone,
}

/// One expectation and what became of it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ExpectationResult {
    /// What it is about.
    #[serde(default)]
    pub family: Family,
    /// What was expected, in words: `get_forecast, at least 2 successful calls`.
    pub what: String,
    /// The tool it is about, if it is about one.
    pub tool: Option<String>,
    /// The resource's URI or the prompt's name, if it is about one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Whether it was met.
    pub met: bool,
    /// Why not, in words; empty when met.
    pub why: String,
    /// Where the nearest call differs from what was expected; empty when met, or when there is none to compare with.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub differences: Vec<Difference>,
    /// The id of that call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call: Option<String>,
    /// Whether what was recorded does not tell if it was met; `met` is then false, `why` says what is missing, and nobody is
    /// blamed for it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unchecked: bool,
    /// Whether it is broken for good: what was done cannot be undone, whatever else would have been said, done or answered.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub broken: bool,
}

impl AttemptRecord {
    /// Tokens and money over all turns: as the relay counted them, where it was in the path and was told, else as the agent
    /// says.
    pub fn usage(&self) -> Usage {
        let mut usage = Usage::default();
        for turn in &self.turns {
            usage.add(&turn.usage);
        }
        // What the relay was told in part goes before nothing at all.
        let in_part = usage.input_tokens.is_none() && !self.traffic.usage.is_empty();
        if self.traffic.usage_is_known() || in_part {
            let counted = self.traffic.tokens();
            usage.input_tokens = Some(counted.input_tokens);
            usage.cached_input_tokens = Some(counted.cached_input_tokens);
            usage.output_tokens = Some(counted.output_tokens);
        }
        usage.cost_usd = self.cost_usd.or_else(|| usage.reported_cost_usd());
        usage
    }

    /// Whether it failed by a tone that gates and by nothing else, so that the judge alone decided it.
    pub fn decided_by_tone(&self) -> bool {
        let mut unmet = self.expectations.iter().filter(|it| !it.met).peekable();
        matches!(self.outcome, Outcome::Failed(_))
            && unmet.peek().is_some()
            && unmet.all(|it| it.family == Family::Tone)
    }
}

impl ExpectationResult {
    /// Whether it still wants for a successful call of its tool, so that the server could be what kept the agent from it.
    pub fn wants_a_call(&self) -> bool {
        !self.met && !self.broken && self.tool.is_some() && matches!(self.family, Family::Tools | Family::Arguments)
    }

    /// `unmet: WHAT – WHY`, for a line that stands alone.
    pub fn unmet_in_words(&self) -> String {
        format!("unmet: {} – {}", self.what, self.why)
    }
}

/// One place in which a call's arguments are not what was expected.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Difference {
    /// Where in the arguments, as a JSON Pointer (RFC 6901): `/stops/0/city`.
    pub at: String,
    /// What was expected there, as a reader would say it: `"3" (string)`.
    pub expected: String,
    /// What is there: `3 (number)`, or `nothing`.
    pub found: String,
}

/// How a run stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RunState {
    /// Attempts are still given out, or the process that did so was killed.
    Running,
    /// Every iteration has a result.
    Completed,
    /// It was stopped before that; `--resume` goes on.
    Aborted,
}

#[cfg(test)]
pub(crate) mod fixtures {
    //! Records for tests, each with the fewest words.

    use mcproctor_proto::call::{CallState, ToolCall};
    use mcproctor_proto::exposure::Exposure;
    use mcproctor_proto::turn::{Turn, TurnEnding, Usage};

    use super::{AnswerChoice, TestCaseRecord};
    use crate::expectation::Expectations;

    /// A call of `tool` that ended in `state`.
    pub(crate) fn call(tool: &str, state: CallState) -> ToolCall {
        ToolCall {
            id: format!("{tool}-1"),
            server: "mcp-under-test".to_owned(),
            tool: tool.to_owned(),
            arguments: None,
            state,
            result: None,
            error: None,
            started_at_unix_ms: 0,
            duration_ms: 5,
            bytes: 0,
            sha256: String::new(),
            truncated: false,
            legs: 1,
            turn: 0,
            http_status: Some(200),
        }
    }

    /// A turn that ended in `ending`.
    pub(crate) fn turn(index: u32, ending: TurnEnding) -> Turn {
        Turn {
            index,
            prompt: "do it".to_owned(),
            reply: "done".to_owned(),
            ending,
            detail: None,
            started_at_unix_ms: 0,
            duration_ms: 1_000,
            usage: Usage::default(),
            escapes: Vec::new(),
            warnings: Vec::new(),
            model: None,
            reported_calls: None,
            model_refusal: None,
        }
    }

    /// A test case with these expected tools and scripted answers.
    pub(crate) fn test_case(expected_tools: &[&str], answers: &[&str]) -> TestCaseRecord {
        let texts = |list: &[&str]| list.iter().map(|&text| text.to_owned()).collect();
        TestCaseRecord {
            name: "case".to_owned(),
            file: "case.yaml".to_owned(),
            prompt: "do it".to_owned(),
            expected_tools: texts(expected_tools),
            expectations: Expectations::default(),
            answers: texts(answers),
            expected_outcome: None,
            answer_choice: AnswerChoice::InOrder,
            tone: None,
        }
    }

    /// A server whose tools were shown.
    pub(crate) fn exposed() -> Exposure {
        Exposure {
            server: "mcp-under-test".to_owned(),
            initialized: true,
            tools_listed: true,
            tool_count: 3,
            ..Exposure::default()
        }
    }
}
