//! Where arguments went wrong, by field of the schema.

use mcproctor_proto::call::ToolCall;

use crate::cut::cut;
use crate::record::AttemptRecord;
use crate::report::pass::{Arguments, Findings};

use super::{Capped, Example};

/// Different errors told apart at most.
const MOST_ERRORS: usize = 1_000;

/// A sample is cut here.
const MOST_SAMPLE_BYTES: usize = 240;

/// Which field of which tool, and what is wrong with it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct FieldKey {
    /// The server.
    pub server: String,
    /// The tool.
    pub tool: String,
    /// The field as a JSON Pointer, with `*` for every index of an array; empty for the arguments as a whole.
    pub field: String,
    /// What is wrong, in words: `missing`, `wrong type`, `not what was expected`.
    pub problem: String,
    /// Whether the tool's own schema says so; otherwise the test case does.
    pub by_schema: bool,
}

/// One kind of mistake.
#[derive(Clone, Debug)]
pub struct ArgumentError {
    /// Calls that made it.
    pub calls: u64,
    /// Iterations that made it.
    pub iterations: u64,
    /// In one call's own values.
    pub sample: String,
    /// That call.
    pub example: Example,
    newest: (usize, u32),
}

/// Every kind of mistake in the arguments of calls, over the iterations that passed or failed.
#[derive(Clone, Debug)]
pub struct ArgumentErrors {
    errors: Capped<FieldKey, ArgumentError>,
}

impl Default for ArgumentErrors {
    fn default() -> Self {
        Self {
            errors: Capped::new(MOST_ERRORS),
        }
    }
}

impl ArgumentErrors {
    /// The kinds of mistake, those made in most iterations first.
    pub fn worst_first(&self) -> Vec<(&FieldKey, &ArgumentError)> {
        let mut all: Vec<_> = self.errors.rows().collect();
        all.sort_by_key(|(_, error)| std::cmp::Reverse((error.iterations, error.calls)));
        all
    }

    /// Mistakes that are in no row, because there were too many different ones.
    pub fn left_out(&self) -> u64 {
        self.errors.left_out()
    }

    /// Counts the result of an iteration that passed or failed.
    pub(super) fn add(&mut self, result: &AttemptRecord, findings: &Findings, example: Example) {
        for (index, (call, found)) in result.calls.iter().zip(&findings.calls).enumerate() {
            let Arguments::Misfit(misfits) = &found.arguments else {
                continue;
            };
            let mut told: Vec<(&str, &str)> = Vec::new();
            for misfit in misfits {
                let what = (misfit.field.as_str(), misfit.problem.as_str());
                // Ten items of an array that lack the same field are one mistake of the call.
                if told.contains(&what) {
                    continue;
                }
                told.push(what);
                self.count(call, what, true, example.at_call(index), || misfit.sample.clone());
            }
        }
        for expectation in result.expectations.iter().filter(|it| !it.met) {
            let named = expectation.call.as_ref();
            let call = named.and_then(|id| result.calls.iter().enumerate().find(|(_, call)| call.id == *id));
            let Some((index, call)) = call else { continue };
            for difference in &expectation.differences {
                let what = (difference.at.as_str(), "not what was expected");
                self.count(call, what, false, example.at_call(index), || {
                    let words = format!("expected {}, found {}", difference.expected, difference.found);
                    cut(&words, MOST_SAMPLE_BYTES).into_owned()
                });
            }
        }
    }

    fn count(
        &mut self,
        call: &ToolCall,
        (field, problem): (&str, &str),
        by_schema: bool,
        example: Example,
        sample: impl FnOnce() -> String,
    ) {
        let key = FieldKey {
            server: call.server.clone(),
            tool: call.tool.clone(),
            field: without_indices(field),
            problem: problem.to_owned(),
            by_schema,
        };
        let new = || ArgumentError {
            calls: 0,
            iterations: 0,
            sample: sample(),
            example,
            newest: (usize::MAX, 0),
        };
        if let Some(error) = self.errors.row(key, new) {
            error.calls += 1;
            let this = (example.cell, example.iteration);
            error.iterations += u64::from(error.newest != this);
            error.newest = this;
        }
    }
}

/// A JSON Pointer with `*` for every token that can be the index of an array.
fn without_indices(pointer: &str) -> String {
    pointer
        .split('/')
        .map(|token| {
            let index = !token.is_empty() && token.bytes().all(|byte| byte.is_ascii_digit());
            if index { "*" } else { token }
        })
        .collect::<Vec<_>>()
        .join("/")
}
