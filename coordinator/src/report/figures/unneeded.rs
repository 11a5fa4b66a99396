//! Calls on prompts that needed none.

use std::collections::BTreeSet;

use crate::record::{AttemptRecord, TestCaseRecord};
use crate::stats::Rate;

use super::{Capped, Example};

/// Tools told apart at most.
const MOST_TOOLS: usize = 500;

/// One tool that was called where none was needed.
#[derive(Clone, Debug)]
pub struct UnneededFigures {
    /// Calls.
    pub calls: u64,
    /// Iterations that called it.
    pub iterations: u64,
    /// One of them.
    pub example: Example,
}

/// Calls in iterations that passed or failed and whose test case expects no tool, by server and tool.
#[derive(Clone, Debug)]
pub struct UnneededCalls {
    tools: Capped<(String, String), UnneededFigures>,
    with_calls: u64,
    n: u64,
}

impl Default for UnneededCalls {
    fn default() -> Self {
        Self {
            tools: Capped::new(MOST_TOOLS),
            with_calls: 0,
            n: 0,
        }
    }
}

impl UnneededCalls {
    /// Iterations with at least one call, out of those whose prompt needed none.
    pub fn rate(&self) -> Rate {
        Rate::of(self.with_calls, self.n)
    }

    /// Server, tool and figures, those called in most iterations first.
    pub fn worst_first(&self) -> Vec<(&(String, String), &UnneededFigures)> {
        let mut all: Vec<_> = self.tools.rows().collect();
        all.sort_by_key(|(_, tool)| std::cmp::Reverse((tool.iterations, tool.calls)));
        all
    }

    /// Calls that are in no row, because there were too many different tools.
    pub fn left_out(&self) -> u64 {
        self.tools.left_out()
    }

    /// Counts the result of an iteration that passed or failed.
    pub(super) fn add(&mut self, case: &TestCaseRecord, result: &AttemptRecord, example: Example) {
        if case.tools_to_call().next().is_some() {
            return;
        }
        self.n += 1;
        self.with_calls += u64::from(!result.calls.is_empty());
        let mut seen = BTreeSet::new();
        for (index, call) in result.calls.iter().enumerate() {
            let key = (call.server.clone(), call.tool.clone());
            let new = || UnneededFigures {
                calls: 0,
                iterations: 0,
                example: example.at_call(index),
            };
            if let Some(tool) = self.tools.row(key.clone(), new) {
                tool.calls += 1;
                tool.iterations += u64::from(seen.insert(key));
            }
        }
    }
}
