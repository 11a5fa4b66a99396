//! Each tool on its way: offered, reached, called, understood, answered.

use mcproctor_proto::call::CallState;

use crate::record::RunRecord;
use crate::report::rate::{RateView, invalid_by_cause};
use crate::report::{Figures, Share, ToolFigures};
use crate::stats::Rate;
use crate::words::{count, duration, median_and_tail};

/// Rows shown before "more".
const FIRST_ROWS: usize = 30;

/// The tools.
pub(super) struct ToolsView {
    pub(super) rows: Vec<ToolView>,
    /// What is beyond the first rows.
    pub(super) more: Vec<ToolView>,
    /// Offered, expected by no test case and never called.
    pub(super) idle: Vec<String>,
    /// What the definitions of all tools cost in every request, estimated.
    pub(super) definitions: Option<String>,
    pub(super) several_servers: bool,
}

/// One tool.
pub(super) struct ToolView {
    /// The server, where there are several.
    pub(super) server: Option<String>,
    pub(super) name: String,
    /// No test case expects it.
    pub(super) unlisted: bool,
    /// From offered to answered; empty when no test case expects it.
    pub(super) steps: Vec<Step>,
    pub(super) calls: u64,
    pub(super) succeeded: u64,
    /// `3 tool error, 1 http error`; empty when every call succeeded.
    pub(super) failures: String,
    pub(super) iterations: u64,
    pub(super) duration: Option<String>,
    pub(super) definition_tokens: Option<String>,
    pub(super) result_tokens: Option<String>,
    /// Iterations that expect it and are in no rate, by cause.
    pub(super) invalid: Option<String>,
}

/// One step of the funnel.
pub(super) struct Step {
    /// `34 of 40`, or why there is nothing.
    pub(super) counts: String,
    /// Iterations in which nobody could see it.
    pub(super) unseen: u64,
    /// `85%, 95% range 71–93%`.
    pub(super) sentence: String,
    /// The share on a scale of 0 to 100; absent where nothing was observed.
    pub(super) bar: Option<String>,
}

impl ToolsView {
    /// Those with most failed calls and most steps lost first.
    pub(super) fn of(run: &RunRecord, figures: &Figures) -> Self {
        let several_servers = run.servers.len() > 1;
        let all = figures.tools();
        let active = |tool: &ToolFigures| tool.calls() > 0 || tool.funnel.tally.total() > 0;
        let mut ordered: Vec<_> = all.iter().filter(|(_, tool)| active(tool)).collect();
        ordered.sort_by_key(|(_, tool)| {
            let lost = tool.funnel.expected - tool.funnel.answered;
            std::cmp::Reverse((lost, tool.calls() - tool.succeeded(), tool.calls()))
        });
        let mut rows: Vec<ToolView> = ordered
            .into_iter()
            .map(|((server, name), tool)| ToolView::of(several_servers.then(|| server.clone()), name, tool))
            .collect();
        let more = rows.split_off(rows.len().min(FIRST_ROWS));
        let definitions: f64 = all.values().filter_map(ToolFigures::definition_tokens).sum();
        Self {
            rows,
            more,
            idle: all
                .iter()
                .filter(|(_, tool)| !active(tool))
                .map(|((_, name), _)| name.clone())
                .collect(),
            definitions: (definitions > 0.0).then(|| count(definitions)),
            several_servers,
        }
    }
}

impl ToolView {
    fn of(server: Option<String>, name: &str, tool: &ToolFigures) -> Self {
        let failures: Vec<String> = tool
            .by_state
            .iter()
            .filter(|(state, _)| **state != CallState::Ok.name())
            .map(|(state, count)| format!("{count} {}", state.replace('_', " ")))
            .collect();
        let expected = tool.funnel.tally.total() > 0;
        Self {
            server,
            name: name.to_owned(),
            unlisted: !expected,
            steps: if expected { steps(tool) } else { Vec::new() },
            calls: tool.calls(),
            succeeded: tool.succeeded(),
            failures: failures.join(", "),
            iterations: tool.iterations,
            duration: median_and_tail(tool.duration_ms(), duration),
            definition_tokens: tool.definition_tokens().map(count),
            result_tokens: median_and_tail(tool.result_tokens(), count),
            invalid: invalid_by_cause(&tool.funnel.tally),
        }
    }
}

fn steps(tool: &ToolFigures) -> Vec<Step> {
    let funnel = &tool.funnel;
    let of_expected = |count| Share {
        count,
        n: funnel.expected,
    };
    let unseen = |share: Share| funnel.expected.saturating_sub(share.n);
    [
        (funnel.offered, unseen(funnel.offered)),
        (funnel.reached, unseen(funnel.reached)),
        (of_expected(funnel.called), 0),
        // Only iterations with a call are asked about.
        (funnel.valid, 0),
        (of_expected(funnel.succeeded), 0),
        (of_expected(funnel.answered), 0),
    ]
    .into_iter()
    .map(|(share, unseen)| Step::of(share, unseen))
    .collect()
}

impl Step {
    fn of(share: Share, unseen: u64) -> Self {
        if share.n == 0 {
            return Self {
                counts: "not observed".to_owned(),
                unseen: 0,
                sentence: "not observed".to_owned(),
                bar: None,
            };
        }
        #[expect(clippy::cast_precision_loss, reason = "counts of iterations are far below 2^52")]
        let bar = share.count as f64 / share.n as f64 * 100.0;
        let rate = RateView::of(Rate::of(share.count, share.n));
        Self {
            counts: rate.counts,
            unseen,
            sentence: rate.sentence,
            bar: Some(format!("{bar:.1}")),
        }
    }
}
