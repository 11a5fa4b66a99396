//! The run, its totals, its cells and its tools.

use std::collections::BTreeMap;

use mcproctor_proto::agent::ToolLoading;
use mcproctor_proto::id::RunId;
use mcproctor_proto::turn::Usage;
use serde::Serialize;

use crate::expectation::Expectations;
use crate::loading::Loading;
use crate::price::KnownPrice;
use crate::record::{AnswerChoice, JudgeRecord, RunRecord, RunState, Tone};
use crate::report::gate::Gate;
use crate::report::time::rfc3339;
use crate::report::{Face, Figures, Group, RunData, Share, Tally, ToolFigures};
use crate::stats::{Rate, Spread};
use crate::threshold;

use super::judge::JudgeCountsView;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct RunView<'a> {
    id: &'a str,
    version: &'a str,
    state: RunState,
    started_at: String,
    started_at_unix_ms: i64,
    /// When the newest attempt ended.
    last_result_at_unix_ms: Option<i64>,
    written_at: String,
    written_at_unix_ms: i64,
    config_file: &'a str,
    config_sha256: &'a str,
    iterations: u32,
    max_attempts: u32,
    /// As text: it may be larger than the numbers that JavaScript can hold.
    seed: String,
    agents: Vec<AgentView<'a>>,
    servers: Vec<ServerView<'a>>,
    test_cases: Vec<TestCaseView<'a>>,
    graded_from: Option<&'a str>,
    /// Why it was stopped before its end.
    stopped: Option<&'a str>,
    notices: &'a [String],
    /// Who gives a second opinion; `null` in a run without a judge.
    judge: Option<&'a JudgeRecord>,
    /// What the run had to reach; `null` when nothing was asked.
    thresholds: Option<ThresholdsView>,
    /// Cells in which a server's tool list changed between iterations.
    tool_list_drift: Vec<DriftView<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ThresholdsView {
    suite: Option<threshold::Share>,
    test_case: Option<threshold::Share>,
    on: threshold::Measure,
    /// `null` while the run is not complete.
    met: Option<bool>,
    /// A sentence for each that was not met.
    missed: Vec<String>,
}

impl ThresholdsView {
    fn of(data: &dyn RunData, figures: &Figures) -> Option<Self> {
        let asked = data.run().thresholds;
        let gate = Gate::of(data.run(), data.state(), figures)?;
        Some(Self {
            suite: asked.suite,
            test_case: asked.test_case,
            on: asked.on,
            met: gate.missed.as_ref().map(Vec::is_empty),
            missed: gate.missed.iter().flatten().map(ToString::to_string).collect(),
        })
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct AgentView<'a> {
    name: &'a str,
    kind: &'a str,
    model: Option<&'a str>,
    /// Models that the API or the agent itself named.
    models_seen: Vec<&'a str>,
    version: Option<&'a str>,
    sandbox: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    image: Option<&'a str>,
    builtin_tools: &'a str,
    /// What was asked for; `null` for what the kind does by itself.
    tool_loading: Option<ToolLoading>,
    /// What the relay saw in effect.
    tool_loading_seen: Vec<Loading>,
    own_login: bool,
    price: Option<&'a KnownPrice>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ServerView<'a> {
    name: &'a str,
    address: &'a str,
    seen: Vec<FaceView<'a>>,
}

#[derive(Serialize)]
struct FaceView<'a> {
    #[serde(flatten)]
    face: &'a Face,
    iterations: u64,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct TestCaseView<'a> {
    name: &'a str,
    file: &'a str,
    prompt: &'a str,
    expected_tools: &'a [String],
    expectations: &'a Expectations,
    answers: &'a [String],
    expected_outcome: Option<&'a str>,
    answer_choice: AnswerChoice,
    tone: Option<&'a Tone>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct DriftView<'a> {
    cell: usize,
    server: &'a str,
}

impl<'a> RunView<'a> {
    pub(super) fn of(data: &'a dyn RunData, figures: &'a Figures) -> Self {
        let run = data.run();
        Self {
            id: run.id.as_str(),
            version: &run.version,
            state: data.state(),
            started_at: rfc3339(run.started_at_unix_ms),
            started_at_unix_ms: run.started_at_unix_ms,
            last_result_at_unix_ms: figures.last_end_unix_ms,
            written_at: rfc3339(data.now_unix_ms()),
            written_at_unix_ms: data.now_unix_ms(),
            config_file: &run.config_file,
            config_sha256: &run.config_sha256,
            iterations: run.iterations,
            max_attempts: run.max_attempts,
            seed: run.seed.to_string(),
            agents: run
                .agents
                .iter()
                .zip(&figures.models)
                .zip(&figures.loadings)
                .map(|((agent, models), loadings)| AgentView {
                    name: &agent.name,
                    kind: &agent.kind,
                    model: agent.model.as_deref(),
                    models_seen: models.iter().map(String::as_str).collect(),
                    version: agent.version.as_deref(),
                    sandbox: agent.sandbox.name(),
                    image: agent.image.as_deref(),
                    builtin_tools: &agent.builtin_tools,
                    tool_loading: agent.tool_loading,
                    tool_loading_seen: loadings.iter().copied().collect(),
                    own_login: agent.own_login,
                    price: agent.price.as_ref(),
                })
                .collect(),
            servers: run
                .servers
                .iter()
                .map(|server| ServerView {
                    name: &server.name,
                    address: &server.address,
                    seen: figures
                        .servers
                        .faces(&server.name)
                        .into_iter()
                        .map(|(face, iterations)| FaceView { face, iterations })
                        .collect(),
                })
                .collect(),
            test_cases: run
                .test_cases
                .iter()
                .map(|case| TestCaseView {
                    name: &case.name,
                    file: &case.file,
                    prompt: &case.prompt,
                    expected_tools: &case.expected_tools,
                    expectations: &case.expectations,
                    answers: &case.answers,
                    expected_outcome: case.expected_outcome.as_deref(),
                    answer_choice: case.answer_choice,
                    tone: case.tone.as_ref(),
                })
                .collect(),
            graded_from: run.graded_from.as_ref().map(RunId::as_str),
            stopped: run.stopped.as_deref(),
            notices: &run.notices,
            judge: run.judge.as_ref(),
            thresholds: ThresholdsView::of(data, figures),
            tool_list_drift: figures
                .servers
                .drifted()
                .map(|(cell, server)| DriftView { cell, server })
                .collect(),
        }
    }
}

/// Outcomes of iterations or attempts.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct OutcomesView {
    passed: u64,
    failed: u64,
    failed_by_class: BTreeMap<&'static str, u64>,
    invalid: u64,
    invalid_by_cause: BTreeMap<&'static str, u64>,
    aborted: u64,
}

impl OutcomesView {
    fn of(tally: &Tally) -> Self {
        Self {
            passed: tally.passed,
            failed: tally.failed(),
            failed_by_class: tally.by_class().map(|(class, count)| (class.name(), count)).collect(),
            invalid: tally.invalid(),
            invalid_by_cause: tally.by_cause().map(|(cause, count)| (cause.name(), count)).collect(),
            aborted: tally.aborted,
        }
    }
}

/// What totals and cells have in common.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct GroupView {
    #[serde(flatten)]
    outcomes: OutcomesView,
    waiting: u64,
    not_run: u64,
    /// Passed out of passed and failed.
    pass_rate: Rate,
    attempts: u64,
    attempt_outcomes: OutcomesView,
    /// Attempts lost to the server, out of those and of all that passed or failed.
    server_faults: Rate,
    iterations_with_escapes: u64,
    duration_ms: Spread,
    tokens: Spread,
    cost_usd: Spread,
    usage: Usage,
}

impl GroupView {
    fn of(group: &Group, planned: u64) -> Self {
        Self {
            outcomes: OutcomesView::of(&group.tally),
            waiting: group.waiting,
            not_run: planned.saturating_sub(group.tally.total() + group.waiting),
            pass_rate: group.tally.pass_rate(),
            attempts: group.attempts.total(),
            attempt_outcomes: OutcomesView::of(&group.attempts),
            server_faults: group.attempts.server_fault_rate(),
            iterations_with_escapes: group.with_escapes,
            duration_ms: group.duration_ms(),
            tokens: group.tokens(),
            cost_usd: group.cost_usd(),
            usage: group.usage,
        }
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct TotalsView {
    agents: usize,
    test_cases: usize,
    planned: u64,
    #[serde(flatten)]
    group: GroupView,
    judge: Option<JudgeCountsView>,
}

impl TotalsView {
    pub(super) fn of(run: &RunRecord, figures: &Figures) -> Self {
        Self {
            agents: run.agents.len(),
            test_cases: run.test_cases.len(),
            planned: run.total_iterations(),
            group: GroupView::of(&figures.total, run.total_iterations()),
            judge: JudgeCountsView::of(figures),
        }
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct CellView<'a> {
    cell: usize,
    agent: &'a str,
    test_case: &'a str,
    file: &'a str,
    planned: u32,
    #[serde(flatten)]
    group: GroupView,
}

impl<'a> CellView<'a> {
    pub(super) fn of(run: &'a RunRecord, figures: &Figures, index: usize) -> Option<Self> {
        let case = run.test_case_of(index)?;
        Some(Self {
            cell: index,
            agent: &run.agent_of(index)?.name,
            test_case: &case.name,
            file: &case.file,
            planned: run.iterations,
            group: GroupView::of(&figures.cells.get(index)?.group, u64::from(run.iterations)),
        })
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ToolView<'a> {
    server: &'a str,
    tool: &'a str,
    calls: u64,
    by_state: &'a BTreeMap<&'static str, u64>,
    iterations: u64,
    duration_ms: Spread,
    valid_calls: ShareView,
    funnel: FunnelView,
    /// Estimated as a quarter of the bytes.
    definition_tokens: Option<f64>,
    result_tokens: Spread,
}

#[derive(Serialize)]
struct ShareView {
    count: u64,
    n: u64,
}

/// Iterations that passed or failed and expect the tool, step by step.
#[derive(Serialize)]
struct FunnelView {
    expected: u64,
    offered: ShareView,
    reached: ShareView,
    called: u64,
    valid: ShareView,
    succeeded: u64,
    answered: u64,
}

impl From<Share> for ShareView {
    fn from(share: Share) -> Self {
        Self {
            count: share.count,
            n: share.n,
        }
    }
}

impl<'a> ToolView<'a> {
    pub(super) fn of(server: &'a str, tool: &'a str, counted: &'a ToolFigures) -> Self {
        let funnel = &counted.funnel;
        Self {
            server,
            tool,
            calls: counted.calls(),
            by_state: &counted.by_state,
            iterations: counted.iterations,
            duration_ms: counted.duration_ms(),
            valid_calls: counted.valid_calls.into(),
            funnel: FunnelView {
                expected: funnel.expected,
                offered: funnel.offered.into(),
                reached: funnel.reached.into(),
                called: funnel.called,
                valid: funnel.valid.into(),
                succeeded: funnel.succeeded,
                answered: funnel.answered,
            },
            definition_tokens: counted.definition_tokens(),
            result_tokens: counted.result_tokens(),
        }
    }
}
