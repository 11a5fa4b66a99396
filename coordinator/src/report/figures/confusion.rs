//! Which tools were called in the place of those that were expected.

use std::collections::{BTreeMap, BTreeSet};

use crate::record::{AttemptRecord, TestCaseRecord};
use crate::stats::Rate;

use super::{Capped, Example};

/// Pairs of an expected tool and one that was called instead, told apart at most.
const MOST_PAIRS: usize = 1_000;

/// What was done where a tool was expected and never called.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Instead {
    /// Another tool was called, which the test case does not expect.
    Called(String),
    /// No tool was called that the test case does not expect.
    NothingElse,
}

/// Iterations that passed or failed, by the tool that was expected and what was called.
#[derive(Clone, Debug)]
pub struct Confusion {
    /// By expected tool: in how many iterations it was called itself, out of those that expect it.
    expected: BTreeMap<String, Row>,
    /// Iterations in which the expected tool was never called and this was, each with one of them. An iteration in which
    /// several others were called is in several of these.
    instead: Capped<(String, Instead), (u64, Example)>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Row {
    called: u64,
    n: u64,
    example: Option<Example>,
}

impl Default for Confusion {
    fn default() -> Self {
        Self {
            expected: BTreeMap::new(),
            instead: Capped::new(MOST_PAIRS),
        }
    }
}

impl Confusion {
    /// Every expected tool with the share of iterations that called it, and one of those.
    pub fn expected(&self) -> impl Iterator<Item = (&str, Rate, Option<Example>)> {
        self.expected
            .iter()
            .map(|(tool, row)| (tool.as_str(), Rate::of(row.called, row.n), row.example))
    }

    /// What was called in the place of what: expected tool, what was called, iterations, one of them.
    pub fn instead(&self) -> impl Iterator<Item = (&str, &Instead, u64, Example)> {
        self.instead
            .rows()
            .map(|((tool, instead), (n, example))| (tool.as_str(), instead, *n, *example))
    }

    /// Cases that are in no pair, because there were too many different ones.
    pub fn left_out(&self) -> u64 {
        self.instead.left_out()
    }

    /// Counts the result of an iteration that passed or failed.
    pub(super) fn add(&mut self, case: &TestCaseRecord, result: &AttemptRecord, example: Example) {
        let expected: BTreeSet<&str> = case.tools_to_call().collect();
        let called_at = |tool: &str| result.calls.iter().position(|call| call.tool == tool);
        for tool in &expected {
            let row = self.expected.entry((*tool).to_owned()).or_default();
            row.n += 1;
            if let Some(at) = called_at(tool) {
                row.called += 1;
                row.example.get_or_insert(example.at_call(at));
                continue;
            }
            let others: BTreeSet<&str> = result
                .calls
                .iter()
                .map(|call| call.tool.as_str())
                .filter(|other| !expected.contains(other))
                .collect();
            if others.is_empty() {
                self.count(tool, Instead::NothingElse, example);
            }
            for other in others {
                let example = called_at(other).map_or(example, |at| example.at_call(at));
                self.count(tool, Instead::Called(other.to_owned()), example);
            }
        }
    }

    fn count(&mut self, tool: &str, instead: Instead, example: Example) {
        if let Some(row) = self.instead.row((tool.to_owned(), instead), || (0, example)) {
            row.0 += 1;
        }
    }
}
