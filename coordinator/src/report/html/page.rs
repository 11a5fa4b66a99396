//! The page around the pieces.

use askama::Template;
use mcproctor_proto::turn::EscapeKind;
use serde::Serialize;

use crate::expectation::Expectations;
use crate::record::RunState;
use crate::report::{Figures, ReportError, RunData};

use super::agents::AgentView;
use super::classes::ClassesView;
use super::confusion::ConfusionView;
use super::embed::{csp_hash, json_for_script};
use super::facts::{Fact, facts};
use super::forest::ForestView;
use super::grid::GridView;
use super::headline::HeadlineView;
use super::judge::{JudgePanel, left_to_judge};
use super::tools::ToolsView;
use super::trouble::TroubleView;
use crate::report::rate::{RateView, failed_by_class, invalid_by_cause};

/// The page's own script, the only one that its policy allows: its files joined, in the order in which they build on each
/// other.
pub(super) const SCRIPT: &str = concat!(
    include_str!("../../../templates/report/script/elements.js"),
    include_str!("../../../templates/report/script/figures.js"),
    include_str!("../../../templates/report/script/pieces.js"),
    include_str!("../../../templates/report/script/choices.js"),
    include_str!("../../../templates/report/script/filters.js"),
    include_str!("../../../templates/report/script/judge.js"),
    include_str!("../../../templates/report/script/groups.js"),
    include_str!("../../../templates/report/script/rows.js"),
    include_str!("../../../templates/report/script/json.js"),
    include_str!("../../../templates/report/script/iteration.js"),
    include_str!("../../../templates/report/script/search.js"),
    include_str!("../../../templates/report/script/controls.js"),
    include_str!("../../../templates/report/script/reload.js"),
    include_str!("../../../templates/report/script/start.js"),
);

const STYLE: &str = concat!(
    include_str!("../../../templates/report/report.css"),
    include_str!("../../../templates/report/judge.css"),
);

/// Seconds between two looks at a page whose run goes on.
const RELOAD_SECONDS: u32 = 10;

/// Everything before the pieces.
#[derive(Template)]
#[template(path = "report/page.html")]
pub(super) struct Page {
    policy: String,
    style: &'static str,
    reload_seconds: u32,
    headline: HeadlineView,
    forest: ForestView,
    classes: ClassesView,
    tools: ToolsView,
    confusion: ConfusionView,
    trouble: TroubleView,
    grid: GridView,
    agents: Vec<AgentView>,
    facts: Vec<Fact>,
    judge: Option<JudgePanel>,
    /// What the script needs to know, as JSON that is safe inside a script element.
    plan: String,
}

/// What the script needs to know of the run.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Plan<'a> {
    run: &'a str,
    running: bool,
    written_at_unix_ms: i64,
    reload_seconds: u32,
    agents: Vec<&'a str>,
    cases: Vec<Case<'a>>,
    cells: Vec<CellView<'a>>,
    tools: Vec<&'a str>,
    several_servers: bool,
    judge: bool,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Case<'a> {
    name: &'a str,
    file: &'a str,
    prompt: &'a str,
    expected_tools: &'a [String],
    expectations: &'a Expectations,
    answers: &'a [String],
    expected_outcome: Option<&'a str>,
    judged: Option<String>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct CellView<'a> {
    marks: &'a str,
    counts: String,
    rate: Option<String>,
    range: Option<String>,
    failed: Option<String>,
    invalid: Option<String>,
    attempts: u64,
    judge_disagrees: u64,
}

impl Page {
    pub(super) fn of(data: &dyn RunData, figures: &Figures) -> Result<Self, ReportError> {
        let run = data.run();
        Ok(Self {
            policy: format!(
                "default-src 'none'; script-src {}; style-src {}; img-src data:; base-uri 'none'; form-action 'none'",
                csp_hash(SCRIPT),
                csp_hash(STYLE)
            ),
            style: STYLE,
            reload_seconds: RELOAD_SECONDS,
            headline: HeadlineView::of(data, figures),
            forest: ForestView::of(run, figures),
            classes: ClassesView::of(run, figures),
            tools: ToolsView::of(run, figures),
            confusion: ConfusionView::of(run, figures),
            trouble: TroubleView::of(run, figures),
            grid: GridView::of(run, figures),
            agents: AgentView::all(run, figures),
            facts: facts(data, figures),
            judge: JudgePanel::of(run, figures),
            plan: json_for_script(&plan(data, figures))?,
        })
    }
}

fn plan<'a>(data: &'a dyn RunData, figures: &'a Figures) -> Plan<'a> {
    let run = data.run();
    let called = figures.tools().iter().filter(|(_, tool)| tool.calls() > 0);
    let mut tools: Vec<&str> = called.map(|((_, tool), _)| tool.as_str()).collect();
    tools.sort_unstable();
    tools.dedup();
    Plan {
        run: run.id.as_str(),
        running: data.state() == RunState::Running,
        written_at_unix_ms: data.now_unix_ms(),
        reload_seconds: RELOAD_SECONDS,
        agents: run.agents.iter().map(|agent| agent.name.as_str()).collect(),
        cases: run
            .test_cases
            .iter()
            .map(|case| Case {
                name: &case.name,
                file: &case.file,
                prompt: &case.prompt,
                expected_tools: &case.expected_tools,
                expectations: &case.expectations,
                answers: &case.answers,
                expected_outcome: case.expected_outcome.as_deref(),
                judged: left_to_judge(case),
            })
            .collect(),
        cells: figures
            .cells
            .iter()
            .enumerate()
            .map(|(index, cell)| {
                let rate = RateView::of(cell.group.tally.pass_rate());
                CellView {
                    marks: &cell.marks,
                    counts: rate.counts,
                    rate: rate.rate,
                    range: rate.range,
                    failed: failed_by_class(&cell.group.tally),
                    invalid: invalid_by_cause(&cell.group.tally),
                    attempts: cell.group.attempts.total(),
                    judge_disagrees: figures.judge.disagreements.get(index).copied().unwrap_or(0),
                }
            })
            .collect(),
        tools,
        several_servers: run.servers.len() > 1,
        judge: run.judge.is_some(),
    }
}

/// The kind of an escape, in words.
pub(super) fn escape_words(kind: EscapeKind) -> &'static str {
    match kind {
        EscapeKind::Shell => "shell command",
        EscapeKind::Web => "web",
        EscapeKind::File => "file",
        EscapeKind::OtherServer => "another MCP server",
        EscapeKind::OtherTool => "a tool of its own",
        EscapeKind::Refused => "refused request",
    }
}
