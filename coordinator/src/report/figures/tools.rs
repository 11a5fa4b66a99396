//! What became of each tool: offered, called, understood, answered.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use mcproctor_proto::agent::AgentKind;
use mcproctor_proto::call::{CallState, ToolCall};
use mcproctor_proto::turn::TurnEnding;

use crate::reach::{Reached, reached_model};
use crate::record::{AttemptRecord, TestCaseRecord};
use crate::report::Tally;
use crate::report::pass::{Arguments, CallFindings, Findings, ToolList};
use crate::report::tally::counts;
use crate::stats::{Spread, spread};

/// Tools told apart at most; calls of further ones are counted under [`OTHER_TOOLS`].
const MOST_TOOLS: usize = 500;

/// Stands for every tool beyond the first 500.
const OTHER_TOOLS: &str = "(further tools)";

/// Bytes of a token, roughly: what providers say of English text.
const BYTES_A_TOKEN: f64 = 4.0;

/// How many of how many.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Share {
    /// How many.
    pub count: u64,
    /// Out of how many of which it is known.
    pub n: u64,
}

impl Share {
    fn add(&mut self, known: Option<bool>) {
        self.count += u64::from(known == Some(true));
        self.n += u64::from(known.is_some());
    }
}

/// The way of a tool through the iterations that expect it, those that passed or failed. Each step counts iterations.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Funnel {
    /// Iterations that passed or failed and whose test case expects the tool.
    pub expected: u64,
    /// The server listed it; N is those whose tool list is kept.
    pub offered: Share,
    /// Its definition was sent to the model; N is those in which that was seen.
    pub reached: Share,
    /// It was called at least once.
    pub called: u64,
    /// At least one call had arguments that fit its schema; N is those with a call that could be checked.
    pub valid: Share,
    /// At least one call succeeded.
    pub succeeded: u64,
    /// And the agent then ended its turn with an answer.
    pub answered: u64,
    /// Outcomes of all iterations that expect it, so that those in no rate are seen too.
    pub tally: Tally,
}

/// Figures of one tool, over the attempts that are results.
#[derive(Clone, Debug, Default)]
pub struct ToolFigures {
    /// Calls by how they ended.
    pub by_state: BTreeMap<&'static str, u64>,
    /// Iterations that called it.
    pub iterations: u64,
    /// Calls whose arguments fit its schema, out of those that could be checked.
    pub valid_calls: Share,
    /// Its way through the iterations that expect it.
    pub funnel: Funnel,
    /// Bytes of its definition in the list last seen; `None` when no list is kept.
    pub definition_bytes: Option<u64>,
    durations_ms: Vec<f32>,
    result_bytes: Vec<f32>,
}

impl ToolFigures {
    /// Every call.
    pub fn calls(&self) -> u64 {
        self.by_state.values().sum()
    }

    /// Calls that were answered without an error.
    pub fn succeeded(&self) -> u64 {
        self.by_state.get(CallState::Ok.name()).copied().unwrap_or(0)
    }

    /// Durations of the calls, in milliseconds.
    pub fn duration_ms(&self) -> Spread {
        spread(self.durations_ms.iter().map(|ms| f64::from(*ms)))
    }

    /// Tokens that its definition costs in every request, estimated as a quarter of its bytes.
    pub fn definition_tokens(&self) -> Option<f64> {
        self.definition_bytes.map(|bytes| as_f64(bytes) / BYTES_A_TOKEN)
    }

    /// Tokens of a call's result, estimated as a quarter of its bytes.
    pub fn result_tokens(&self) -> Spread {
        spread(self.result_bytes.iter().map(|bytes| f64::from(*bytes) / BYTES_A_TOKEN))
    }

    fn add_call(&mut self, call: &ToolCall, found: Option<&CallFindings>) {
        *self.by_state.entry(call.state.name()).or_default() += 1;
        self.durations_ms.push(as_f32(call.duration_ms));
        if call.bytes > 0 {
            self.result_bytes.push(as_f32(call.bytes));
        }
        self.valid_calls.add(found.and_then(fits));
    }
}

/// Every tool that was offered, called or expected.
#[derive(Clone, Debug, Default)]
pub(super) struct Tools {
    pub(super) by_name: BTreeMap<(String, String), ToolFigures>,
    /// The list last seen of each server: most iterations show the same one.
    newest: BTreeMap<String, Arc<ToolList>>,
}

impl Tools {
    /// Counts the result of an iteration of `case`; `kind` is the agent's, `None` when it is not known.
    pub(super) fn add(
        &mut self,
        case: &TestCaseRecord,
        kind: Option<AgentKind>,
        result: &AttemptRecord,
        findings: &Findings,
    ) {
        for (server, list) in &findings.shown {
            if self.newest.get(server).is_some_and(|newest| Arc::ptr_eq(newest, list)) {
                continue;
            }
            self.newest.insert(server.clone(), Arc::clone(list));
            for (name, tool) in list.iter() {
                self.tool(server, name).1.definition_bytes = Some(tool.definition_bytes);
            }
        }
        let mut seen = BTreeSet::new();
        for (index, call) in result.calls.iter().enumerate() {
            let (key, tool) = self.tool(&call.server, &call.tool);
            tool.add_call(call, findings.calls.get(index));
            tool.iterations += u64::from(seen.insert(key));
        }
        for name in case.tools_to_call().collect::<BTreeSet<_>>() {
            let server = server_of(name, result, findings);
            let reached = kind.map_or(Reached::Unknown, |kind| {
                reached_model(kind, &server, name, &result.traffic)
            });
            let (_, tool) = self.tool(&server, name);
            tool.funnel.add(name, reached, result, findings);
        }
    }

    fn tool(&mut self, server: &str, name: &str) -> ((String, String), &mut ToolFigures) {
        let mut key = (server.to_owned(), name.to_owned());
        if self.by_name.len() >= MOST_TOOLS && !self.by_name.contains_key(&key) {
            key.1 = OTHER_TOOLS.to_owned();
        }
        (key.clone(), self.by_name.entry(key).or_default())
    }
}

impl Funnel {
    fn add(&mut self, name: &str, reached: Reached, result: &AttemptRecord, findings: &Findings) {
        self.tally.add(result.outcome);
        if !counts(result.outcome) {
            return;
        }
        self.expected += 1;
        self.offered.add(findings.offered(name));
        self.reached.add(match reached {
            Reached::Yes => Some(true),
            Reached::No => Some(false),
            Reached::Unknown => None,
        });
        let calls = || {
            let found = findings.calls.iter().map(Some).chain(std::iter::repeat(None));
            result.calls.iter().zip(found).filter(|(call, _)| call.tool == name)
        };
        if calls().next().is_none() {
            return;
        }
        self.called += 1;
        let checked: Vec<bool> = calls().filter_map(|(_, found)| fits(found?)).collect();
        self.valid.add((!checked.is_empty()).then(|| checked.contains(&true)));
        if calls().any(|(call, _)| call.succeeded()) {
            self.succeeded += 1;
            self.answered += u64::from(ended_with_an_answer(result));
        }
    }
}

/// The server that offers a tool, else the one that was called, else the first.
fn server_of(tool: &str, result: &AttemptRecord, findings: &Findings) -> String {
    let offered = findings.shown.iter().find(|(_, list)| list.contains_key(tool));
    let called = || result.calls.iter().find(|call| call.tool == tool);
    offered
        .map(|(server, _)| server.clone())
        .or_else(|| called().map(|call| call.server.clone()))
        .or_else(|| result.exposures.first().map(|exposure| exposure.server.clone()))
        .unwrap_or_default()
}

fn ended_with_an_answer(result: &AttemptRecord) -> bool {
    result
        .turns
        .last()
        .is_some_and(|turn| turn.ending == TurnEnding::Completed && !turn.reply.trim().is_empty())
}

fn fits(found: &CallFindings) -> Option<bool> {
    match found.arguments {
        Arguments::NotChecked => None,
        Arguments::Fit => Some(true),
        Arguments::Misfit(_) => Some(false),
    }
}

#[expect(
    clippy::cast_precision_loss,
    reason = "milliseconds and bytes; seven digits are enough"
)]
fn as_f32(value: u64) -> f32 {
    value as f32
}

#[expect(clippy::cast_precision_loss, reason = "bytes of a definition are far below 2^52")]
fn as_f64(value: u64) -> f64 {
    value as f64
}
