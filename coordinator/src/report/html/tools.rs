//! The tools that were called.

use std::collections::BTreeSet;

use mcproctor_proto::call::CallState;

use crate::record::RunRecord;
use crate::report::Figures;

use super::figure::{duration, median_and_tail};

/// One tool.
pub(super) struct ToolView {
    /// The server, where there are several.
    pub(super) server: Option<String>,
    pub(super) name: String,
    pub(super) calls: u64,
    pub(super) succeeded: u64,
    /// `3 tool error, 1 http error`; empty when every call succeeded.
    pub(super) failures: String,
    pub(super) iterations: u64,
    pub(super) duration: Option<String>,
    /// No test case names it.
    pub(super) unlisted: bool,
}

impl ToolView {
    /// Every tool, those with failed calls first, then by calls.
    pub(super) fn all(run: &RunRecord, figures: &Figures) -> Vec<Self> {
        let listed: BTreeSet<&str> = run
            .test_cases
            .iter()
            .flat_map(|case| &case.expected_tools)
            .map(String::as_str)
            .collect();
        let mut tools: Vec<Self> = figures
            .tools
            .iter()
            .map(|((server, name), tool)| {
                let failures: Vec<String> = tool
                    .by_state
                    .iter()
                    .filter(|(state, _)| **state != CallState::Ok.name())
                    .map(|(state, count)| format!("{count} {}", state.replace('_', " ")))
                    .collect();
                Self {
                    server: (run.servers.len() > 1).then(|| server.clone()),
                    name: name.clone(),
                    calls: tool.calls(),
                    succeeded: tool.succeeded(),
                    failures: failures.join(", "),
                    iterations: tool.iterations,
                    duration: median_and_tail(tool.duration_ms(), duration),
                    unlisted: !listed.contains(name.as_str()),
                }
            })
            .collect();
        tools.sort_by_key(|tool| std::cmp::Reverse((tool.calls - tool.succeeded, tool.calls)));
        tools
    }
}
