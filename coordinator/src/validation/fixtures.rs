//! Test cases and calls in a few words.

#![allow(clippy::unwrap_used, reason = "a test may fail by panicking")]

use mcproctor_proto::call::{CallState, ToolCall};
use mcproctor_proto::request::McpRequest;
use mcproctor_proto::tokens::{ModelUsage, Tokens};
use mcproctor_proto::traffic::ModelTraffic;
use mcproctor_proto::turn::{Turn, TurnEnding};

use super::{Observed, check, worth_talking_on};
use crate::record::fixtures::{call, turn};
use crate::record::{ExpectationResult, TestCaseRecord};
use crate::source::MemorySource;
use crate::testcase;

/// What a relay saw of two answers, one of which told this many tokens of input and one of output.
pub(super) fn relayed(input_tokens: u64, requests_without_usage: u32) -> ModelTraffic {
    ModelTraffic {
        observed: true,
        requests: 1 + requests_without_usage,
        succeeded: 1 + requests_without_usage,
        usage: vec![ModelUsage {
            model: Some("m".to_owned()),
            responses: 1,
            tokens: Tokens {
                input_tokens,
                output_tokens: 1,
                ..Tokens::default()
            },
        }],
        requests_without_usage,
        ..ModelTraffic::default()
    }
}

/// What was recorded, and a test case as its author writes it.
pub(super) struct Recorded {
    pub(super) case: TestCaseRecord,
    pub(super) calls: Vec<ToolCall>,
    pub(super) turns: Vec<Turn>,
    pub(super) traffic: ModelTraffic,
    pub(super) cost_usd: Option<f64>,
    pub(super) requests: Vec<McpRequest>,
}

impl Recorded {
    /// One turn in which nothing was called. `expected` are the keys of the test case but its prompt.
    pub(super) fn under(expected: &str) -> Self {
        let mut text = format!("prompt: x\n{expected}\n");
        if !expected.contains("expectedTools:") && !expected.contains("expectNoTools: true") {
            text += "expectedTools: []\n";
        }
        let cases = testcase::load(&MemorySource::new([("case.yaml", text.as_str())]))
            .map_err(|errors| errors.to_string())
            .unwrap();
        Self {
            case: TestCaseRecord::from(&cases[0]),
            calls: Vec::new(),
            turns: vec![turn(0, TurnEnding::Completed)],
            traffic: ModelTraffic::default(),
            cost_usd: None,
            requests: Vec::new(),
        }
    }

    /// A further call that succeeded.
    pub(super) fn called(self, tool: &str, arguments: &str) -> Self {
        self.called_in(tool, arguments, CallState::Ok)
    }

    /// A further call that ended in `state`.
    pub(super) fn called_in(mut self, tool: &str, arguments: &str, state: CallState) -> Self {
        let number = self.calls.len() + 1;
        self.calls.push(ToolCall {
            id: format!("call-{number}"),
            arguments: (!arguments.is_empty()).then(|| serde_json::from_str(arguments).unwrap()),
            error: (state != CallState::Ok).then(|| "no such city".to_owned()),
            ..call(tool, state)
        });
        self
    }

    /// A further call that succeeded and whose arguments are too large for the record.
    pub(super) fn called_at_length(self, tool: &str) -> Self {
        let mut recorded = self.called(tool, "");
        recorded.calls.last_mut().unwrap().truncated = true;
        recorded
    }

    /// The last reply.
    pub(super) fn replied(mut self, reply: &str) -> Self {
        self.turns.last_mut().unwrap().reply = reply.to_owned();
        self
    }

    pub(super) fn observed(&self) -> Observed<'_> {
        Observed {
            calls: &self.calls,
            turns: &self.turns,
            traffic: &self.traffic,
            cost_usd: self.cost_usd,
            requests: &self.requests,
        }
    }

    pub(super) fn results(&self) -> Vec<ExpectationResult> {
        check(&self.case, &self.observed())
    }

    /// Whether all is met.
    pub(super) fn all_met(&self) -> bool {
        self.results().iter().all(|result| result.met)
    }

    /// The only expectation that is not met, as `what: why`.
    pub(super) fn unmet(&self) -> String {
        let result = self.only_unmet();
        format!("{}: {}", result.what, result.why)
    }

    pub(super) fn only_unmet(&self) -> ExpectationResult {
        let mut unmet: Vec<ExpectationResult> = self.results().into_iter().filter(|result| !result.met).collect();
        assert_eq!(unmet.len(), 1, "{unmet:#?}");
        unmet.remove(0)
    }

    pub(super) fn worth_talking_on(&self) -> bool {
        worth_talking_on(&self.case, &self.observed())
    }
}
